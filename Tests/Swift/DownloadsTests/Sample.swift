import Downloads
import Formats
import Foundation

/// One value of each state and each signal.
enum Sample {
    static let now = Date(milliseconds: 1_566_228_194_250)
    static let failure = Failure(.connectionLost, "gone", attempts: 1, at: now)
    static let wait = Wait(.retry(until: now.addingTimeInterval(5)), cause: failure)
    static let expired = Wait(.url, cause: Failure(.linkExpired, "403", status: 403))
    static let file = FinishedFile(path: "a/b.bin", size: 10, sha256: "00", contentType: "text/plain")
    static let receipt = Receipt(
        finalURL: "https://host/b?signature=s", redirects: [], status: 200, etag: "\"1\"", lastModified: nil,
        remoteAddress: "192.0.2.1", networkProtocol: "HTTP/1.1", lengthVerified: true, attempts: 1,
        timings: Receipt.Timings(connect: 0, firstByte: 0, transfer: 0, total: 0))
    static let promotion = FinalizePlan(
        part: PartID("part_1"), inode: 7, conflict: .rename, file: file, receipt: receipt)

    static let states: [(name: String, value: JobState)] = [
        ("queued", .queued), ("attempting", .running(.attempting)), ("promoting", .running(.promoting(promotion))),
        ("waiting", .waiting(wait)), ("blocked", .waiting(expired)), ("paused", .paused),
        ("succeeded", .succeeded(JobResult(file: file, receipt: receipt))), ("failed", .failed(failure)),
        ("cancelled", .cancelled),
    ]

    static let signals: [(name: String, value: JobSignal)] = [
        ("admitted", .admitted), ("waitEnded", .waitEnded), ("pauseRequested", .pauseRequested),
        ("resumeRequested", .resumeRequested), ("cancelRequested", .cancelRequested(keepsPart: false)),
        ("retryRequested", .retryRequested), ("inputSupplied", .inputSupplied([.url])),
        ("timeElapsed", .timeElapsed(failure)), ("attemptStopped(pause)", .attemptStopped(.pause)),
        ("attemptStopped(cancel)", .attemptStopped(.cancel(keepsPart: false))),
        ("attemptInterrupted", .attemptInterrupted),
        ("attemptDeferred", .attemptDeferred(wait)), ("attemptHeldOff", .attemptHeldOff(wait)),
        ("attemptDiverted", .attemptDiverted(wait)),
        ("attemptFailed", .attemptFailed(failure)),
        ("finalizePlanned", .finalizePlanned(promotion)), ("finalized", .finalized(nil)),
    ]

    static let batchStates: [Batch.State] = [.open, .due(now), .finished(9), .acknowledged(9)]

    struct BatchCase {
        let name: String
        let value: BatchSignal
        let openCounts: Batch.Counts
        var openImports = 0

        /// Only an open batch has outstanding jobs.
        func counts(_ state: Batch.State) -> Batch.Counts {
            if case .open = state { openCounts } else { Batch.Counts(succeeded: 2) }
        }
    }

    static let batchSignals: [BatchCase] = [
        BatchCase(name: "jobJoined", value: .jobJoined, openCounts: Batch.Counts()),
        BatchCase(name: "jobRejoined", value: .jobRejoined(.succeeded), openCounts: Batch.Counts(succeeded: 1)),
        BatchCase(
            name: "jobEnded (last)", value: .jobEnded(.succeeded, due: now), openCounts: Batch.Counts(outstanding: 1)),
        BatchCase(
            name: "jobEnded (others left)", value: .jobEnded(.failed, due: now),
            openCounts: Batch.Counts(outstanding: 2)),
        BatchCase(name: "importBegan", value: .importBegan, openCounts: Batch.Counts(outstanding: 1)),
        BatchCase(
            name: "importEnded (last)", value: .importEnded(due: now), openCounts: Batch.Counts(succeeded: 1),
            openImports: 1),
        BatchCase(
            name: "importEnded (jobs left)", value: .importEnded(due: now), openCounts: Batch.Counts(outstanding: 1),
            openImports: 1),
        BatchCase(
            name: "jobEnded (import left)", value: .jobEnded(.failed, due: now),
            openCounts: Batch.Counts(outstanding: 1), openImports: 1),
        BatchCase(
            name: "sessionInvalidated", value: .sessionInvalidated(at: now.addingTimeInterval(-1)),
            openCounts: Batch.Counts(outstanding: 1)),
        BatchCase(name: "delayElapsed", value: .delayElapsed(finish: 9), openCounts: Batch.Counts(outstanding: 1)),
        BatchCase(name: "finishAcknowledged", value: .finishAcknowledged, openCounts: Batch.Counts(outstanding: 1)),
    ]

    static let deliveryStates: [Delivery.State] = [.pending(next: now), .acknowledged, .exhausted, .cancelled]

    static let deliverySignals: [(name: String, value: DeliverySignal)] = [
        ("accepted", .accepted), ("rejected (tries left)", .rejected(retryAt: now)),
        ("rejected (none left)", .rejected(retryAt: nil)), ("withdrawn", .withdrawn),
        ("redeliveryRequested", .redeliveryRequested(at: now)),
    ]

    static let webhookStates: [(name: String, value: Webhook.State)] = [
        ("enabled", .enabled()), ("failing", .enabled(failingSince: now)), ("disabled", .disabled(reason: "gone")),
    ]

    static let webhookSignals: [(name: String, value: WebhookSignal)] = [
        ("accepted", .accepted), ("rejected (first)", .rejected(at: now, wasTried: false)),
        ("rejected (after five days, first)", .rejected(at: now.addingTimeInterval(5 * 86_400), wasTried: false)),
        ("rejected (for five days)", .rejected(at: now.addingTimeInterval(5 * 86_400), wasTried: true)),
        ("goneAnswered", .goneAnswered), ("enableRequested", .enableRequested),
        ("secretsLost", .secretsLost),
    ]

    static func job(_ state: JobState = .queued, url: String = "https://host/b?signature=s") -> Job {
        Job(id: JobID("job_1"), session: .default, batch: 1, state: state, spec: JobSpec(url: url), createdAt: now)
    }
}
