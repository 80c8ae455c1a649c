import Formats
import Foundation
import HTTPSemantics
import Testing

@testable import Downloads

/// The document of a job, which is written member by member, equals a tree of values that states it once more.
@Suite struct JobDocumentTests {
    @Test(arguments: Sample.states.map(\.value)) func documentHasEveryMember(_ state: JobState) {
        for job in Self.jobs(state) {
            for live in Self.views {
                let document = Self.document(of: job, live) { URLRule.withoutCredentials($0) }
                #expect(job.document(live: live).written == document.written)
            }
            let snapshot = Self.document(of: job, nil) { URLRule.redacted($0) }
            #expect(job.document(for: .redacted).written == snapshot.written)
        }
    }

    private static func jobs(_ state: JobState) -> [Job] {
        var job = Sample.job(state, url: "https://user:secret@host/ä?signature=s")
        job.spec.mirrors = ["https://mirror/f#part"]
        job.mirror = 1
        job.spec.destination = Destination(directory: "a/\"b\"", filename: "{name}", onConflict: .replace)
        job.spec.destination.createDirectories = false
        job.spec.destination.staging = .whole
        job.spec.priority = .high
        job.spec.notBefore = Sample.now.addingTimeInterval(1)
        job.spec.deadline = Sample.now.addingTimeInterval(2)
        job.spec.tags = ["t", "u\n"]
        job.spec.metadata = Metadata(["k": ["v": 1.25]])
        (job.startedAt, job.finishedAt) = (Sample.now, Sample.now.addingTimeInterval(3))
        (job.attempts, job.revision, job.batch) = (4, 5, 6)
        let outcomes: [ResumeOutcome?] = [
            nil, .fresh, .resumed(offset: 7), .resumed(offset: 8, why: .syncFailed), .restarted(.badRange),
        ]
        let parts = [nil, 0, 10].map { size in
            Part(
                id: PartID("part_1"), url: job.url, validators: Validators(), size: size, ranges: ByteRanges(prefix: 0))
        }
        return [Sample.job(state)]
            + outcomes.flatMap { outcome in
                ([nil] + parts).map { part in
                    var job = job
                    (job.resume, job.part) = (outcome, part)
                    return job
                }
            }
    }

    private static let views: [LiveProgress?] = [
        nil, LiveProgress(phase: .connecting, bytesReceived: -1, bytesDurable: 0),
        LiveProgress(
            phase: .transferring, bytesReceived: 5, bytesDurable: 3, bytesExpected: 10, bytesPerSecond: 2,
            resume: .resumed(offset: 1)),
        LiveProgress(phase: .verifying, bytesReceived: 0, bytesDurable: 0, bytesExpected: 0, bytesPerSecond: 0),
    ]

    private static func document(of job: Job, _ live: LiveProgress?, _ url: (String) -> String) -> JSON {
        let phase = live?.phase ?? (job.state.finalizePlan == nil ? .connecting : .promoting)
        let destination = job.spec.destination.document
        return [
            "id": .string(job.id.text), "session": .string(job.session.text), "batch": .count(job.batch),
            "state": .string(job.state.name.rawValue),
            "phase": job.state.name == .running ? .string(phase.rawValue) : .null,
            "reason": .optional(job.state.wait?.name.rawValue), "revision": .count(job.revision),
            "url": .string(url(job.url)), "destination": destination,
            "priority": .string((job.spec.priority ?? .normal).rawValue), "queue_rank": .optional(job.queueRank?.text),
            "queue": job.state == .queued ? queue(of: job) : .null, "created_at": .time(job.createdAt),
            "started_at": .optional(job.startedAt), "finished_at": .optional(job.finishedAt),
            "not_before": .optional(job.spec.notBefore), "deadline": .optional(job.spec.deadline),
            "progress": progress(of: job, job.state.name == .running ? live : nil),
            "resume": (live?.resume ?? job.resume).map(resume) ?? .null, "attempts": .count(job.attempts),
            "retry_at": .optional(job.state.wait?.until),
            "challenge": (job.state.wait?.challenge ?? job.state.failure?.challenge)?.document ?? .null,
            "cause": job.state.wait?.cause.document ?? .null,
            "failure": job.state.failure?.document ?? .null, "file": job.state.finish.map { file($0.file) } ?? .null,
            "receipt": job.state.finish.map { receipt($0.receipt, url) } ?? .null,
            "tags": .strings(job.spec.tags), "metadata": job.spec.metadata.parsed,
            "traceparent": .optional(job.trace?.parent),
        ]
    }

    private static func queue(of job: Job) -> JSON {
        let isHeld = job.startedAt == nil && job.spec.notBefore != nil
        return [
            "blocked_by": isHeld ? "not_before" : .null, "until": .optional(isHeld ? job.spec.notBefore : nil),
            "position": .null,
        ]
    }

    private static func progress(of job: Job, _ live: LiveProgress?) -> JSON {
        let received = max(live?.bytesReceived ?? job.bytesDurable, 0)
        let expected = live?.bytesExpected ?? job.bytesExpected
        let isFinished = job.state.finish != nil
        let fraction = expected.flatMap { $0 == 0 ? (isFinished ? 1 : nil) : min(1, Double(received) / Double($0)) }
        let rate = live?.bytesPerSecond
        let left = expected.flatMap { size in rate.flatMap { $0 > 0 ? Double(size - received) / Double($0) : nil } }
        return [
            "bytes_received": .integer(received), "bytes_durable": .integer(live?.bytesDurable ?? job.bytesDurable),
            "bytes_expected": .optional(expected), "fraction": .optional(fraction), "bytes_per_second": .optional(rate),
            "eta_seconds": .optional(left.map { Int64($0.rounded(.up)) }),
        ]
    }

    private static func resume(_ outcome: ResumeOutcome) -> JSON {
        switch outcome {
        case .fresh: ["decision": "fresh", "why": .null, "offset": 0]
        case .resumed(let offset, let why):
            ["decision": "resumed", "why": .optional(why?.rawValue), "offset": .integer(offset)]
        case .restarted(let why): ["decision": "restarted", "why": .string(why.rawValue), "offset": 0]
        }
    }

    private static func file(_ file: FinishedFile) -> JSON {
        [
            "path": .string(file.path), "location": .string((file.location ?? .default).text),
            "size": .integer(file.size),
            "sha256": .optional(file.sha256),
            "content_type": .optional(file.contentType), "url": .optional(file.object?.url),
            "etag": .optional(file.object?.etag), "version_id": .optional(file.object?.versionID),
        ]
    }

    private static func receipt(_ receipt: Receipt, _ url: (String) -> String) -> JSON {
        [
            "final_url": .string(url(receipt.finalURL)), "redirects": .strings(receipt.redirects.map(url)),
            "status": .count(receipt.status), "etag": .optional(receipt.etag),
            "last_modified": .optional(receipt.lastModified), "remote_address": .optional(receipt.remoteAddress),
            "protocol": .string(receipt.networkProtocol), "length_verified": .bool(receipt.lengthVerified),
            "verified_by": receipt.verifiedBy.map { .strings($0.map { $0 == .client ? "checksum" : $0.rawValue }) }
                ?? .null,
            "checksum": receipt.checksum.map { listed($0, url) } ?? .null,
            "dropped_mirrors": .array(
                (receipt.droppedMirrors ?? []).map {
                    ["url": .string(url($0.url)), "code": .string($0.code.rawValue), "message": .string($0.message)]
                }),
            "resumed_by": .optional(receipt.resumedBy?.rawValue),
            "coding": receipt.coding.map(coding) ?? .null,
            "attempts": .count(receipt.attempts),
            "timings": [
                "connect_seconds": .number(receipt.timings.connect),
                "first_byte_seconds": .number(receipt.timings.firstByte),
                "transfer_seconds": .number(receipt.timings.transfer),
                "total_seconds": .number(receipt.timings.total),
            ],
        ]
    }

    private static func listed(_ listed: ListedChecksum, _ url: (String) -> String) -> JSON {
        let signature: JSON? = listed.signature.map {
            [
                "type": .string($0.kind.rawValue), "url": .string(url($0.url)), "key": .string($0.key),
                "trusted_comment": .optional($0.trustedComment),
            ]
        }
        return [
            "url": .string(url(listed.url)), "file": .optional(listed.file),
            "algorithm": .string(listed.checksum.algorithm.rawValue), "value": .string(listed.checksum.value),
            "signature": signature ?? .null,
        ]
    }

    private static func coding(_ coding: Receipt.Coding) -> JSON {
        [
            "name": .string(coding.name), "decoded": .bool(coding.isDecoded), "size": .integer(coding.size),
            "sha256": .optional(coding.sha256),
        ]
    }
}
