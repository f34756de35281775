//! What a worker's process gives up before it loads the code of a library: SECURITY.md says what that promises.
//!
//! * Descriptors that its parent's parents have left open.
//! * Limits: memory, processor time for each call, open files, size of files, no core files.
//! * Capabilities, for a user that has them (root), except for that of reading files.
//! * Files (Landlock): none is written, made or removed except in the process's own scratch folder.
//! * System calls ([`system_calls`]): no sockets, no other processes, no signals to others, no attributes of files.
//!
//! Restrictions that the system does not offer are left out, and reported.

mod error;
#[cfg(target_os = "linux")]
mod system_calls;

use cpu_time::ProcessTime;
use error::ConfineError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::RawFd;
use std::path::Path;
use std::time::Duration;

/// Bytes of private memory.
const MEMORY: u64 = 4 << 30;

/// Bytes of addresses, which cost nothing by themselves.
const ADDRESSES: u64 = 16 << 30;

/// Open files.
const FILES: u64 = 256;

/// Bytes of a file that is written.
const FILE: u64 = 1 << 30;

/// Confines this process, which has one thread, to reading and to writing in a folder. Of the descriptors from 3 on,
/// only the one of its channel stays. Gives what could not be done.
pub(super) fn confine(scratch: &Path, channel: RawFd) -> Vec<String> {
    let mut missing = vec![];
    let mut tried = |what: &str, result: Result<(), ConfineError>| {
        if let Err(why) = result {
            missing.push(format!("{what} ({why})"));
        }
    };
    tried("limits of memory and files", limits());
    #[cfg(target_os = "linux")]
    {
        tried("closing what others left open", linux::close_all_but(channel));
        tried("giving up privileges", linux::give_up_privileges());
        tried("protection of files", linux::protect_files(scratch));
        tried("no network and no other processes", system_calls::deny());
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (scratch, channel);
        tried("protection of files, no network and no other processes", Err(ConfineError::LinuxOnly));
    }
    missing
}

/// From now on the process may use this much processor time on each processor; with more, the system ends it.
pub(super) fn allow_processor_time(more: Duration) {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let more = more.as_secs().saturating_mul(processors).saturating_add(2);
    let until = ProcessTime::now().as_duration().as_secs().saturating_add(more);
    let maximum = getrlimit(Resource::Cpu).maximum;
    let until = maximum.map_or(until, |maximum| until.min(maximum));
    // The parent has a clock of its own: this is for a process that it cannot end.
    let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(until), maximum });
}

fn limits() -> Result<(), ConfineError> {
    let limits = [
        (Resource::Core, 0),
        (Resource::Data, MEMORY),
        (Resource::As, ADDRESSES),
        (Resource::Nofile, FILES),
        (Resource::Fsize, FILE),
    ];
    for (resource, limit) in limits {
        let limit = getrlimit(resource).maximum.map_or(limit, |maximum| maximum.min(limit));
        let both = Rlimit { current: Some(limit), maximum: Some(limit) };
        setrlimit(resource, both).map_err(|e| ConfineError::Limit(resource, e))?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use super::error::ConfineError;
    use landlock::{
        ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
        path_beneath_rules,
    };
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    use std::os::fd::RawFd;
    use std::path::Path;

    /// Everything that is refused here; an older system refuses what it knows of it.
    const KNOWN: ABI = ABI::V6;

    /// The oldest system that keeps all files from being changed: before it, any file could be cut to nothing.
    const ENOUGH: ABI = ABI::V3;

    pub(super) fn close_all_but(channel: RawFd) -> Result<(), ConfineError> {
        let channel = u32::try_from(channel)?;
        for (first, last) in [(3, channel.saturating_sub(1)), (channel + 1, u32::MAX)] {
            #[allow(unsafe_code, reason = "see SAFETY")]
            // SAFETY: this process has just begun: besides the three streams and the channel it has opened nothing, so
            // nothing of it owns one of these.
            let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
            if closed != 0 {
                return Err(std::io::Error::last_os_error().into());
            }
        }
        Ok(())
    }

    pub(super) fn give_up_privileges() -> Result<(), ConfineError> {
        let mut sets = capabilities(None)?;
        sets.permitted &= CapabilitySet::DAC_READ_SEARCH;
        sets.effective &= CapabilitySet::DAC_READ_SEARCH;
        sets.inheritable = CapabilitySet::empty();
        Ok(set_capabilities(None, sets)?)
    }

    /// Only what is in the folder may be written, made or removed. No program may be started, TCP may not be used, and
    /// no signal may be sent to a process outside.
    pub(super) fn protect_files(folder: &Path) -> Result<(), ConfineError> {
        let restricted = || -> Result<_, RulesetError> {
            let writes = AccessFs::from_write(KNOWN);
            Ruleset::default()
                .handle_access(writes | AccessFs::Execute)?
                .handle_access(AccessNet::from_all(KNOWN))?
                .scope(Scope::from_all(KNOWN))?
                .create()?
                .add_rules(path_beneath_rules([folder, Path::new("/dev/null")], writes))?
                .restrict_self()
        };
        let status = restricted()?;
        match (status.ruleset, status.landlock) {
            (RulesetStatus::FullyEnforced, _) => Ok(()),
            (RulesetStatus::PartiallyEnforced, landlock::LandlockStatus::Available { effective_abi, .. })
                if effective_abi >= ENOUGH =>
            {
                Ok(())
            }
            (_, found) => Err(ConfineError::OldLandlock(found)),
        }
    }
}
