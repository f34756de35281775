//! Messages between a worker and its parent: a socket of their own, and frames that nothing else writes by accident.
//!
//! The child finds its end on standard input and moves it to another descriptor, which programs that it might start do
//! not inherit. So whatever prints, reads or closes the three standard streams does not meet the messages. A frame is a
//! token that only the two ends know, the length of the message, a checksum, and the message as JSON. Code that writes
//! to every descriptor can end a conversation, but cannot forge a message.
//!
//! **Invariant**: a message is received as it was sent, or not at all.

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::dup2_stdin;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::io::{self, Error, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Bytes of a message, at most.
const LARGEST: usize = 256 << 20;

/// The lowest descriptor that the child may move its end to.
const LOWEST: i32 = 64;

/// Token, length, checksum.
const HEADER: usize = 24;

/// One end.
pub(super) struct Channel {
    stream: UnixStream,
    token: u64,
}

impl Channel {
    /// The parent's end, and what the child is to have as its standard input.
    pub(super) fn pair() -> io::Result<(Channel, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        let token = RandomState::new().build_hasher().finish();
        (&ours).write_all(&token.to_le_bytes())?;
        Ok((Channel { stream: ours, token }, theirs.into()))
    }

    /// The child's end. Standard input is empty afterwards.
    pub(super) fn adopt() -> io::Result<Channel> {
        let own = fcntl_dupfd_cloexec(io::stdin(), LOWEST)?;
        dup2_stdin(File::open("/dev/null")?)?;
        let mut stream = UnixStream::from(own);
        let mut token = [0; 8];
        stream.read_exact(&mut token)?;
        Ok(Channel { stream, token: u64::from_le_bytes(token) })
    }

    /// Which descriptor it is.
    pub(super) fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Sends a message, within the time limit if there is one.
    pub(super) fn send(&mut self, message: &impl Serialize, limit: Option<Duration>) -> io::Result<()> {
        let message = serde_json::to_vec(message)?;
        if message.len() > LARGEST {
            return Err(Error::new(ErrorKind::InvalidInput, format!("a message of {} bytes", message.len())));
        }
        let mut frame = Vec::with_capacity(HEADER + message.len());
        for word in [self.token, message.len() as u64, self.checksum(&message)] {
            frame.extend(word.to_le_bytes());
        }
        frame.extend(message);
        let deadline = Deadline::after(limit);
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            self.stream.set_write_timeout(deadline.remaining()?)?;
            match completed(self.stream.write(rest))? {
                Some(0) => return Err(ErrorKind::WriteZero.into()),
                Some(written) => rest = &rest[written..],
                None => {}
            }
        }
        Ok(())
    }

    /// The next message. `TimedOut` where none came within the limit, `UnexpectedEof` where the other end is closed,
    /// `InvalidData` for what no channel sends.
    pub(super) fn receive<T: DeserializeOwned>(&mut self, limit: Option<Duration>) -> io::Result<T> {
        let deadline = Deadline::after(limit);
        let mut header = [0; HEADER];
        self.fill(&mut header, &deadline)?;
        let word = |n: usize| u64::from_le_bytes(std::array::from_fn(|i| header[8 * n + i]));
        let length = usize::try_from(word(1)).unwrap_or(usize::MAX);
        if word(0) != self.token || length > LARGEST {
            return Err(Error::new(ErrorKind::InvalidData, "what came is no message"));
        }
        let mut message = vec![0; length];
        self.fill(&mut message, &deadline)?;
        if word(2) != self.checksum(&message) {
            return Err(Error::new(ErrorKind::InvalidData, "a message came damaged"));
        }
        Ok(serde_json::from_slice(&message)?)
    }

    fn fill(&mut self, buffer: &mut [u8], deadline: &Deadline) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            self.stream.set_read_timeout(deadline.remaining()?)?;
            match completed(self.stream.read(&mut buffer[filled..]))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Some(read) => filled += read,
                None => {}
            }
        }
        Ok(())
    }

    fn checksum(&self, message: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.token);
        hasher.write(message);
        hasher.finish()
    }
}

/// The result of a read or a write; `None` if it is to be tried again.
fn completed(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(count) => Ok(Some(count)),
        Err(e) if e.kind() == ErrorKind::Interrupted => Ok(None),
        // The error of a socket whose time is over.
        Err(e) if e.kind() == ErrorKind::WouldBlock => Err(ErrorKind::TimedOut.into()),
        Err(e) => Err(e),
    }
}

/// When to stop waiting.
struct Deadline(Option<Instant>);

impl Deadline {
    fn after(limit: Option<Duration>) -> Self {
        Deadline(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// The time that is left. `None`: any.
    fn remaining(&self) -> io::Result<Option<Duration>> {
        let Some(deadline) = self.0 else { return Ok(None) };
        match deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Option<Duration> = Some(Duration::from_millis(50));

    fn ends() -> (Channel, Channel) {
        let (parent, child) = Channel::pair().unwrap();
        let mut stream = UnixStream::from(child);
        let mut token = [0; 8];
        stream.read_exact(&mut token).unwrap();
        (parent, Channel { stream, token: u64::from_le_bytes(token) })
    }

    fn kind(result: io::Result<String>) -> ErrorKind {
        result.unwrap_err().kind()
    }

    #[test]
    fn messages_of_any_size_arrive_in_order() {
        let (mut parent, mut child) = ends();
        let large = "x".repeat(4 << 20);
        let (sent, expected) = (large.clone(), large);
        let sender = std::thread::spawn(move || {
            for message in ["first", &sent, "last"] {
                child.send(&message, None).unwrap();
            }
        });
        for message in ["first", &expected, "last"] {
            assert!(parent.receive::<String>(None).unwrap() == message);
        }
        sender.join().unwrap();
        assert_eq!(kind(parent.receive(SOON)), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_no_channel_sends_is_an_error() {
        for garbage in [&b"{\"Returned\":{}}\n and more of that"[..], &[0; 64], &[0xff; 64]] {
            let (mut parent, mut child) = ends();
            child.stream.write_all(garbage).unwrap();
            assert_eq!(kind(parent.receive(SOON)), ErrorKind::InvalidData, "{garbage:?}");
        }
        // A token that other code has read, and a message that does not fit its checksum.
        let (mut parent, mut child) = ends();
        let mut frame = child.token.to_le_bytes().to_vec();
        frame.extend([2u64.to_le_bytes(), 7u64.to_le_bytes()].concat());
        frame.extend(b"14");
        child.stream.write_all(&frame).unwrap();
        assert_eq!(kind(parent.receive(SOON)), ErrorKind::InvalidData);
    }

    #[test]
    fn nobody_waits_longer_than_the_limit() {
        let (mut parent, mut child) = ends();
        assert_eq!(kind(parent.receive(SOON)), ErrorKind::TimedOut);
        // Half a header, and then nothing.
        child.stream.write_all(&child.token.to_le_bytes()).unwrap();
        assert_eq!(kind(parent.receive(SOON)), ErrorKind::TimedOut);
        // More than the socket holds, and no reader.
        let large = "x".repeat(16 << 20);
        assert_eq!(parent.send(&large, SOON).unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
