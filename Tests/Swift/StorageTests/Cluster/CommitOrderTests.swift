import Base
import Downloads
import Foundation
import Testing

@testable import Storage

/// Commits of this node (`own`) and of others (`read`) reach the observers in the order of the journal.
struct CommitOrderTests {
    private let order = CommitOrder(after: JournalPosition(commits: 10, lastEvent: 100))
    private let seen = Locked<[EventID]>([])

    init() { _ = order.add { [seen] commit in seen.withLock { $0 += commit.events.map(\.id) } } }

    private func commit(_ events: EventID...) -> Commit {
        var commit = Commit()
        commit.events = events.map {
            Event(id: $0, type: .jobCreated, time: Date(milliseconds: 0), session: .default, job: nil, data: "{}")
        }
        return commit
    }

    @Test func ownCommitsPassAtOnce() {
        order.commit(commit(101), at: 11)
        order.commit(commit(102, 103), at: 12)
        #expect(seen.withLock(\.self) == [101, 102, 103])
        #expect(order.lacks(12) == nil)
    }

    @Test func ownCommitWaitsForAnEarlierOne() {
        order.commit(commit(102), at: 12)
        #expect(seen.withLock(\.self) == [])
        #expect(order.lacks(11) == 100)
        order.follow(commit(101), to: 11)
        #expect(seen.withLock(\.self) == [101, 102])
    }

    @Test func ownCommitThatWasReadMeanwhilePassesOnce() {
        order.commit(commit(102), at: 12)
        order.follow(commit(101, 102, 103), to: 13)
        order.commit(commit(104), at: 14)
        #expect(seen.withLock(\.self) == [101, 102, 103, 104])
    }

    @Test func ownCommitThatWasReadBeforePassesOnce() {
        order.follow(commit(101), to: 11)
        order.commit(commit(101), at: 11)
        order.commit(commit(102), at: 12)
        #expect(seen.withLock(\.self) == [101, 102])
    }

    @Test func pagesAreOneCommit() {
        order.commit(commit(104), at: 12)
        order.follow(commit(101, 102), to: nil)
        #expect(order.lacks(11) == 102)
        order.follow(commit(103), to: 11)
        #expect(seen.withLock(\.self) == [101, 102, 103, 104])
    }

    /// It has no event, and names no job.
    @Test func changeOfAnyJobIsPassedOn() {
        let isPassed = Locked(false)
        _ = order.add { commit in isPassed.withLock { $0 = commit.hasAnyJob } }
        var change = Commit()
        order.follow(change, to: nil)
        #expect(!isPassed.withLock { $0 })
        change.hasAnyJob = true
        order.follow(change, to: nil)
        #expect(isPassed.withLock { $0 })
    }

    /// Another thread can hold the lock that the observer waits for.
    @Test(.timeLimit(.minutes(5))) func anObserverMayWaitForAThreadThatAsks() async {
        let (order, isAsked) = (order, DispatchSemaphore(value: 0))
        _ = order.add { _ in
            DispatchQueue.global().async {
                _ = order.add { _ in }
                _ = (order.lastEvent, order.seen, order.lacks(12))
                isAsked.signal()
            }
            isAsked.wait()
        }
        order.commit(commit(101), at: 11)
        order.commit(commit(102), at: 12)
        #expect(seen.withLock(\.self) == [101, 102])
    }

    @Test func concurrentCommitsReachObserversInTheirOrder() {
        DispatchQueue.concurrentPerform(iterations: 200) { index in
            if index.isMultiple(of: 2) {
                order.commit(commit(101 + EventID(index)), at: 11 + Int64(index))
            } else {
                order.follow(commit(101 + EventID(index)), to: nil)
            }
        }
        let events = seen.withLock(\.self)
        #expect(events == events.sorted() && Set(events).count == events.count)
    }

    @Test func observerLearnsWhereItBegins() {
        order.commit(commit(101), at: 11)
        #expect(order.add { _ in } == 101)
    }
}
