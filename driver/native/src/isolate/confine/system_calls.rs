//! System calls that a worker's process does not make: they fail with `EPERM`, as for a user who may not.
//!
//! **Invariant**: what is refused is refused permanently, to all threads that the process will have. Calls that C
//! libraries need to compute, print and start threads are not refused.

use super::error::ConfineError;
use libc::{self as c, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter_all_threads,
};
use std::collections::BTreeMap;

/// Refused, whatever the arguments.
const REFUSED: &[c_long] = &[
    // Connections. Calls that write to sockets stay: the parent is at the end of one.
    c::SYS_socket,
    c::SYS_connect,
    c::SYS_bind,
    c::SYS_listen,
    // Its requests do what other calls do, unseen.
    c::SYS_io_uring_setup,
    // Other processes: to start them, to leave the group in which the parent ends them, to reach into them.
    c::SYS_execve,
    c::SYS_execveat,
    c::SYS_setsid,
    c::SYS_setpgid,
    c::SYS_unshare,
    c::SYS_setns,
    c::SYS_ptrace,
    c::SYS_process_vm_readv,
    c::SYS_process_vm_writev,
    c::SYS_pidfd_open,
    c::SYS_pidfd_getfd,
    c::SYS_pidfd_send_signal,
    c::SYS_tkill,
    // Attributes of files, which Landlock does not know.
    c::SYS_fchmod,
    c::SYS_fchmodat,
    c::SYS_fchmodat2,
    c::SYS_fchown,
    c::SYS_fchownat,
    c::SYS_utimensat,
    c::SYS_setxattr,
    c::SYS_lsetxattr,
    c::SYS_fsetxattr,
    c::SYS_removexattr,
    c::SYS_lremovexattr,
    c::SYS_fremovexattr,
    // Objects that outlive the process.
    c::SYS_shmget,
    c::SYS_semget,
    c::SYS_msgget,
    c::SYS_mq_open,
    c::SYS_mq_unlink,
    c::SYS_add_key,
    c::SYS_request_key,
    c::SYS_keyctl,
    // The system itself.
    c::SYS_mount,
    c::SYS_umount2,
    c::SYS_bpf,
    c::SYS_perf_event_open,
    c::SYS_open_by_handle_at,
];

/// The same by the names that only older machines have.
#[cfg(target_arch = "x86_64")]
const OLDER: &[c_long] = &[
    c::SYS_fork,
    c::SYS_vfork,
    c::SYS_chmod,
    c::SYS_chown,
    c::SYS_lchown,
    c::SYS_utime,
    c::SYS_utimes,
    c::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[c_long] = &[];

/// Refuses them from now on.
pub(super) fn deny() -> Result<(), ConfineError> {
    let own = u64::from(std::process::id());
    let mut refused: BTreeMap<c_long, Vec<SeccompRule>> =
        REFUSED.iter().chain(OLDER).map(|call| (*call, vec![])).collect();
    let conditional = [
        // A process that is no thread of this one.
        (c::SYS_clone, 0, SeccompCmpOp::MaskedEq(c::CLONE_THREAD as u64), 0),
        // Signals to others; `abort` sends itself one.
        (c::SYS_kill, 0, SeccompCmpOp::Ne, own),
        (c::SYS_tgkill, 0, SeccompCmpOp::Ne, own),
        (c::SYS_rt_sigqueueinfo, 0, SeccompCmpOp::Ne, own),
        (c::SYS_rt_tgsigqueueinfo, 0, SeccompCmpOp::Ne, own),
        // Limits of others.
        (c::SYS_prlimit64, 0, SeccompCmpOp::Ne, 0),
        // To outlive the parent.
        (c::SYS_prctl, 0, SeccompCmpOp::Eq, c::PR_SET_PDEATHSIG as u64),
    ];
    for (call, argument, comparison, value) in conditional {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value);
        let rule = condition.and_then(|condition| SeccompRule::new(vec![condition]))?;
        refused.insert(call, vec![rule]);
    }
    install(refused, c::EPERM)?;
    // Its flags are in memory, where no filter sees them. C libraries that are told it is unknown use `clone`.
    install(BTreeMap::from([(c::SYS_clone3, vec![])]), c::ENOSYS)
}

fn install(rules: BTreeMap<c_long, Vec<SeccompRule>>, error: i32) -> Result<(), ConfineError> {
    let machine = std::env::consts::ARCH.try_into()?;
    let refusal = SeccompAction::Errno(error as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, machine)?;
    let program = BpfProgram::try_from(filter)?;
    Ok(apply_filter_all_threads(&program)?)
}
