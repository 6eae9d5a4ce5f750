//! A cached file for tasks of tokio. Feature `tokio`.
//!
//! One request of a handle is under way at a time, and no call blocks the thread, so one loop serves many files. Open
//! the file and drop the handle where blocking is allowed: both make calls that wait.
//!
//! ```
//! use nbuf::cached_file::{AsyncCachedFile, CachedFile, Options};
//! use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
//! # runtime.block_on(async {
//! let file = CachedFile::temporary(&std::env::temp_dir(), &Options::default())?;
//! let mut file = AsyncCachedFile::new(file)?;
//! file.write_all(b"any bytes").await?;
//! file.rewind().await?;
//! let mut text = String::new();
//! file.read_to_string(&mut text).await?;
//! assert_eq!(text, "any bytes");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use tokio::task::coop::poll_proceed;

use super::{CachedFile, Done, Ticket};
use crate::sys::task_wake::watched;

/// A request has at most this many bytes, whatever the caller's buffer has.
const REQUEST_BYTES_MAX: usize = 1 << 20;

/// A [`CachedFile`] as tokio reads and writes: at a position.
///
/// A write returns when it is submitted; its error comes with the next call. A flush waits until the device has all
/// that was written, as [`CachedFile::sync`] does. A call that is dropped before it completes loses no bytes of the
/// file, and moves the position by nothing.
#[derive(Debug)]
pub struct AsyncCachedFile {
    file: CachedFile,
    /// A second descriptor of what wakes for the file.
    wake: AsyncFd<OwnedFd>,
    under_way: Option<UnderWay>,
    /// Bytes at the position that a read brought and no caller took.
    ahead: Bytes,
    seek: Option<SeekFrom>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Read,
    Write,
    Sync,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    ticket: Ticket,
    what: What,
}

impl AsyncCachedFile {
    /// Takes a file, at its position. What its requests under way give is dropped: collect it before.
    ///
    /// # Errors
    ///
    /// The kernel refuses one more descriptor, or to watch it.
    ///
    /// # Panics
    ///
    /// Outside a runtime of tokio with I/O enabled.
    pub fn new(file: CachedFile) -> io::Result<Self> {
        let wake = watched(file.wake_fd().try_clone_to_owned()?)?;
        Ok(Self { file, wake, under_way: None, ahead: Bytes::new(), seek: None })
    }

    /// The file, for its counts and its length.
    pub fn get_ref(&self) -> &CachedFile {
        &self.file
    }

    /// Gives the file back. Flush before: a request under way goes on, its error is lost, and reads and syncs may be
    /// complete before it.
    pub fn into_inner(self) -> CachedFile {
        self.file
    }

    /// The end of the request under way.
    fn poll_done(&mut self, cx: &mut Context<'_>, ticket: Ticket) -> Poll<io::Result<Done>> {
        loop {
            while let Some(done) = self.file.try_done() {
                if done.ticket == ticket {
                    self.under_way = None;
                    return Poll::Ready(Ok(done));
                }
            }
            // An answer that came before the look at the cache was taken there; a later one wakes again.
            ready!(self.wake.poll_read_ready_mut(cx))?.clear_ready();
        }
    }

    /// Waits for what is under way, and reports its error. Bytes of a read are dropped: the position did not move.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(UnderWay { ticket, what }) = self.under_way {
            let done = ready!(self.poll_done(cx, ticket))?;
            if what != What::Read {
                done.outcome?;
            }
        }
        if let Some(to) = self.seek.take() {
            self.ahead = Bytes::new();
            self.file.seek(to)?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for AsyncCachedFile {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        // Hits wait for nothing, and other tasks of the thread have a turn too.
        let budget = ready!(poll_proceed(cx));
        if this.seek.is_some() {
            ready!(this.poll_idle(cx))?;
        }
        while this.ahead.is_empty() && buffer.remaining() > 0 {
            match this.under_way {
                Some(UnderWay { ticket, what: What::Read }) => {
                    let done = ready!(this.poll_done(cx, ticket))?;
                    done.outcome?;
                    if done.data.is_empty() {
                        return Poll::Ready(Ok(()));
                    }
                    this.ahead = done.data.into();
                }
                Some(_) => ready!(this.poll_idle(cx))?,
                None => {
                    let length = buffer.remaining().min(REQUEST_BYTES_MAX);
                    let ticket = this.file.submit_read(vec![0; length], this.file.position);
                    this.under_way = Some(UnderWay { ticket, what: What::Read });
                }
            }
        }
        let taken = this.ahead.split_to(this.ahead.len().min(buffer.remaining()));
        buffer.put_slice(&taken);
        this.file.position += taken.len() as u64;
        budget.made_progress();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for AsyncCachedFile {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let budget = ready!(poll_proceed(cx));
        ready!(this.poll_idle(cx))?;
        this.ahead = Bytes::new();
        let length = buffer.len().min(REQUEST_BYTES_MAX);
        if length > 0 {
            let file = &mut this.file;
            let ticket = file.submit_write(buffer[..length].to_vec(), file.position)?;
            file.position += length as u64;
            this.under_way = Some(UnderWay { ticket, what: What::Write });
        }
        budget.made_progress();
        Poll::Ready(Ok(length))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.under_way.is_some_and(|it| it.what == What::Sync) {
            ready!(this.poll_idle(cx))?;
            let ticket = this.file.submit_sync();
            this.under_way = Some(UnderWay { ticket, what: What::Sync });
        }
        this.poll_idle(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl AsyncSeek for AsyncCachedFile {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.seek = Some(to);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        ready!(self.poll_idle(cx))?;
        Poll::Ready(Ok(self.file.position))
    }
}
