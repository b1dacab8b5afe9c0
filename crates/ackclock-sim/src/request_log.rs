//! The requests of a flow: their sizes, and the times at which the receiver had all of their data.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackclock_units::{Bytes, Time};

use crate::memory::Grow as _;

/// A request, a page of a web session, or a whole finite transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When the sender was given the data.
    pub start: Time,
    /// The amount of that data.
    pub bytes: Bytes,
    /// Packets of the connection up to its end.
    end: u64,
    /// When the receiver had all of it.
    pub completed: Option<Time>,
}

/// The requests of a connection. The sender knows their beginnings, and the receiver knows their ends. Both belong to
/// one run, which one thread runs.
#[derive(Clone, Debug, Default)]
pub struct RequestLog(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    requests: Vec<Request>,
    complete: usize,
    /// How many there will be, if that is known.
    count: Option<u64>,
}

impl RequestLog {
    /// A log of `count` requests; `None` if there is no end.
    #[must_use]
    pub fn new(count: Option<u64>) -> Self {
        RequestLog(Arc::new(Mutex::new(Book { count, ..Book::default() })))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sender is given `bytes` at `now`; with them the connection has `end` packets.
    pub fn begin(&self, now: Time, bytes: Bytes, end: u64) {
        self.book().requests.add(Request { start: now, bytes, end, completed: None });
    }

    /// The receiver has the first `packets` packets at `now`. Returns whether that is all there will ever be.
    pub fn deliver(&self, now: Time, packets: u64) -> bool {
        let mut book = self.book();
        let Book { requests, complete, count } = &mut *book;
        while let Some(request) = requests.get_mut(*complete)
            && request.end <= packets
        {
            request.completed = Some(now);
            *complete += 1;
        }
        count.is_some_and(|count| *complete as u64 >= count)
    }

    /// All requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.book().requests.clone()
    }
}
