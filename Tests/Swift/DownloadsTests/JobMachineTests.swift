import Downloads
import Foundation
import Testing

/// Events, effects and counts of decisions. LifecycleDocumentTests check the resulting states.
@Suite struct JobMachineTests {
    @Test func announcesTerminalEventForEachEnding() {
        let endings: [(JobState, JobSignal, EventType)] = [
            (.running(.promoting(Sample.promotion)), .finalized(nil), .jobSucceeded),
            (.running(.attempting), .attemptFailed(Sample.failure), .jobFailed),
            (.running(.attempting), .attemptStopped(.cancel(keepsPart: false)), .jobCancelled),
            (.queued, .cancelRequested(keepsPart: false), .jobCancelled),
        ]
        for (state, signal, event) in endings {
            guard case .become(let next, let announced, _) = state.transition(on: signal) else {
                Issue.record("\(state) does not end on \(signal)")
                continue
            }
            #expect(next.isTerminal)
            #expect(announced == event)
        }
    }

    @Test func announcesEveryDecisionThatEndsJob() {
        for (_, state) in Sample.states {
            for (_, signal) in Sample.signals {
                guard case .become(let next, let announced, _) = state.transition(on: signal), next.isTerminal else {
                    continue
                }
                #expect(announced != nil)
            }
        }
    }

    @Test func refusalNamesStatesThatAllowSignal() {
        for (_, signal) in Sample.signals {
            let taken = Set(Sample.states.filter { !isRefused($0.value, signal) }.map(\.value.name))
            for (_, state) in Sample.states {
                if case .refuse(let allowed) = state.transition(on: signal) {
                    #expect(Set(allowed) == taken, "\(signal)")
                }
            }
        }
    }

    private func isRefused(_ state: JobState, _ signal: JobSignal) -> Bool {
        if case .refuse = state.transition(on: signal) { true } else { false }
    }

    @Test func countsNoAttemptWhenInterrupted() {
        let admitted = Sample.job().becoming(.running(.attempting), on: .admitted, at: Sample.now)
        #expect(admitted.attempts == 1)
        let interrupted = admitted.becoming(.queued, on: .attemptInterrupted, at: Sample.now)
        #expect(interrupted.attempts == 0)
        #expect(interrupted.failuresInARow == 0)
        #expect(interrupted.startedAt == Sample.now)
    }

    @Test func countsNoAttemptWhenDiskIsFull() {
        let wait = Wait(.space(until: Sample.now), cause: Failure(.noSpace, "full"))
        let job = Sample.job().becoming(.running(.attempting), on: .admitted, at: Sample.now)
            .becoming(.waiting(wait), on: .attemptDeferred(wait), at: Sample.now)
        #expect(job.attempts == 0)
        #expect(job.failuresInARow == 0)
    }

    @Test func countsNoAttemptWhenHeldOff() {
        var job = Sample.job()
        for count in 1...3 {
            job = job.becoming(.running(.attempting), on: .admitted, at: Sample.now)
                .becoming(.waiting(Sample.wait), on: .attemptHeldOff(Sample.wait), at: Sample.now)
            #expect(job.attempts == 0 && job.failuresInARow == 0 && job.timesHeldOff == count)
        }
        let cancelled = job.becoming(.cancelled, on: .cancelRequested(keepsPart: false), at: Sample.now)
        #expect(cancelled.becoming(.queued, on: .retryRequested, at: Sample.now).timesHeldOff == 0)
    }

    @Test func resetsFailuresWhenDivertedToNextURL() {
        var job = Sample.job(.running(.attempting))
        job.spec.mirrors = ["https://other/"]
        job.failuresInARow = 7
        let diverted = job.becoming(.waiting(Sample.wait), on: .attemptDiverted(Sample.wait), at: Sample.now)
        #expect(diverted.url == "https://other/")
        #expect(diverted.failuresInARow == 0)
        // The last URL has no successor: the client may have changed the URLs meanwhile.
        let again = diverted.becoming(.waiting(Sample.wait), on: .attemptDiverted(Sample.wait), at: Sample.now)
        #expect(again.url == "https://other/")
        job.spec.mirrors = []
        #expect(job.becoming(.queued, on: .attemptDiverted(Sample.wait), at: Sample.now).url == job.spec.url)
    }

    @Test func resetsCountsOnRetry() {
        var job = Sample.job(.failed(Sample.failure))
        job.spec.mirrors = ["https://other/"]
        job.mirror = 1
        job.attempts = 8
        job.failuresInARow = 8
        job.finishedAt = Sample.now
        let retried = job.becoming(.queued, on: .retryRequested, at: Sample.now)
        #expect(retried.attempts == 0)
        #expect(retried.failuresInARow == 0)
        #expect(retried.finishedAt == nil)
        #expect(retried.url == job.spec.url)
        #expect(retried.revision == job.revision + 1)
    }

    @Test func withdrawsEndingFromBatchWhenJobRejoins() throws {
        let batch = Batch(session: .default, number: 1, counts: Batch.Counts(outstanding: 1, failed: 1))
        let rejoined = try #require(batch.transition(on: .jobRejoined(.failed)))
        #expect(rejoined.counts == Batch.Counts(outstanding: 2))
        #expect(Batch(session: .default, number: 1).transition(on: .jobRejoined(.failed)) == nil)
    }

    @Test func derivesBatchOutcomeFromCounts() {
        func outcome(_ counts: Batch.Counts) -> Batch.Outcome {
            Batch(session: .default, number: 1, counts: counts).outcome
        }
        #expect(outcome(Batch.Counts(succeeded: 2, cancelled: 1)) == .succeeded)
        #expect(outcome(Batch.Counts(succeeded: 1, failed: 1)) == .partlyFailed)
        #expect(outcome(Batch.Counts(failed: 1, cancelled: 1)) == .failed)
        #expect(outcome(Batch.Counts(cancelled: 3)) == .cancelled)
    }
}
