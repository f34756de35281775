//! Exceptions thrown by compiled code: `%__cranelift_throw`, as Cranelift's own test runner provides it.
//!
//! The callee of a `try_call` calls it with the frame of the outermost compiled function, its own frame, where it
//! was called from, a tag and two payloads. The frames between are walked; the first call site that has a handler
//! for the tag goes on with the payloads. The architecture-specific code follows Wasmtime's unwinder
//! (`wasmtime-internal-unwinder`, `arch/x86.rs`); on other architectures the function does not exist.

use cranelift_codegen::{FinalizedMachExceptionHandler, MachBufferFinalized};
use std::cell::Cell;

/// Name and address, where exceptions are supported.
#[cfg(target_arch = "x86_64")]
pub(super) const SYMBOL: Option<(&str, *const u8)> = Some(("__cranelift_throw", throw as *const u8));
/// Name and address, where exceptions are supported.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const SYMBOL: Option<(&str, *const u8)> = None;

/// A call that catches. Offsets are from the start of its function until [`Site::placed`], then addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// Where the call returns to.
    returns: usize,
    /// Where the handler is.
    handler: usize,
    /// From the frame pointer down to the stack pointer.
    frame: usize,
    /// What it catches; `None` for everything.
    tag: Option<u32>,
}

impl Site {
    /// The same, in a function that starts at `base`.
    pub(super) fn placed(self, base: usize) -> Site {
        Site { returns: base + self.returns, handler: base + self.handler, ..self }
    }
}

/// All handlers of a compiled function, in the order in which they are asked.
pub(super) fn sites(code: &MachBufferFinalized<cranelift_codegen::Final>) -> Vec<Site> {
    let mut sites = vec![];
    for call in code.call_sites() {
        let Some(frame) = call.frame_offset else { continue };
        for handler in call.exception_handlers {
            let (tag, handler) = match handler {
                FinalizedMachExceptionHandler::Tag(tag, offset) => (Some(tag.as_u32()), *offset),
                FinalizedMachExceptionHandler::Default(offset) => (None, *offset),
                // A runtime decides what tags mean in a context; here they mean the same everywhere.
                FinalizedMachExceptionHandler::Context(_) => continue,
            };
            sites.push(Site { returns: call.ret_addr as usize, handler: handler as usize, frame: frame as usize, tag });
        }
    }
    sites
}

thread_local! {
    /// The handlers of the code that runs on this thread.
    static RUNNING: Cell<*const [Site]> = const { Cell::new(&[]) };
}

/// While it lives, exceptions are looked up in one module's handlers.
pub(super) struct Catching<'a> {
    outer: *const [Site],
    sites: std::marker::PhantomData<&'a [Site]>,
}

/// Looks exceptions up in `sites` until the result is dropped.
pub(super) fn catch_with(sites: &[Site]) -> Catching<'_> {
    Catching { outer: RUNNING.replace(sites), sites: std::marker::PhantomData }
}

impl Drop for Catching<'_> {
    fn drop(&mut self) {
        RUNNING.set(self.outer);
    }
}

#[cfg(target_arch = "x86_64")]
extern "C" fn throw(
    entry_frame: usize,
    exit_frame: usize,
    exit_pc: usize,
    tag: u32,
    payload1: usize,
    payload2: usize,
) -> ! {
    // SAFETY: compiled code runs inside of `Jit::call` only, which keeps its handlers borrowed and registered here.
    let sites: &[Site] = unsafe { &*RUNNING.get() };
    let (mut pc, mut frame) = (exit_pc, exit_frame);
    loop {
        let catches = |site: &&Site| site.returns == pc && site.tag.is_none_or(|t| t == tag);
        if let Some(site) = sites.iter().find(catches) {
            // SAFETY: `frame` is that of the function that made the call, and the handler is its own.
            unsafe { resume(site.handler, frame - site.frame, frame, payload1, payload2) }
        }
        if frame >= entry_frame || frame % 16 != 0 {
            // No handler catches it; there is nothing to go back to.
            std::process::abort();
        }
        // SAFETY: between exit and entry all frames are those of compiled code with frame pointers, as the caller
        // promises by calling this: the older frame pointer and the return address stand where this one points.
        let (older, returns) = unsafe { (*(frame as *const usize), *(frame as *const usize).add(1)) };
        if older <= frame {
            std::process::abort();
        }
        (pc, frame) = (returns, older);
    }
}

/// Goes on in a handler, by the exception convention of Cranelift's `tail` calls.
///
/// # Safety
///
/// `sp` and `fp` are those of a live compiled frame, `pc` a handler of the call that it is in.
#[cfg(target_arch = "x86_64")]
unsafe fn resume(pc: usize, sp: usize, fp: usize, payload1: usize, payload2: usize) -> ! {
    // SAFETY: see above; the frames that are left behind hold nothing to drop.
    unsafe {
        core::arch::asm!(
            "mov rsp, rcx",
            "mov rbp, rsi",
            "jmp rdi",
            in("rax") payload1,
            in("rdx") payload2,
            in("rcx") sp,
            in("rsi") fp,
            in("rdi") pc,
            options(nostack, nomem, noreturn),
        );
    }
}
