import Formats
import Foundation
import HTTPSemantics

/// The job as the API shows it. The document belongs to the domain, not to the API, because the journal stores it: a
/// terminal event contains the whole job.
extension Job {
    public enum Audience: Sendable, Hashable, CaseIterable {
        /// Callers that may change the job: complete URLs, but without user name and password.
        case full
        /// All others, and events, deliveries and logs: URLs also without their query, which often contains a signature.
        case redacted
    }

    public func document(live: LiveProgress? = nil) -> JSON { document(for: .full, live: live) }

    func document(for audience: Audience, live: LiveProgress? = nil) -> JSON {
        var writer = JSONWriter()
        writeDocument(for: audience, live: live, to: &writer)
        return .text(writer.text)
    }

    /// - Parameter queue: of a queued job; nil: only what the job itself says.
    public func writeDocument(
        for audience: Audience, live: LiveProgress?, queue: QueueEntry? = nil, to writer: inout JSONWriter
    ) {
        writer.object { writeMembers(for: audience, live: live, queue: queue, to: &$0) }
    }

    private func writeMembers(
        for audience: Audience, live: LiveProgress? = nil, queue: QueueEntry? = nil, to writer: inout JSONWriter
    ) {
        let queue = state == .queued ? queue ?? QueueEntry(of: self) : nil
        writeState(live, to: &writer)
        writer.member("url", audience.shown(url))
        writer.object("destination", spec.destination.writeMembers)
        writer.member("priority", (spec.priority ?? .normal).rawValue)
        writer.member("queue_rank", queueRank?.text)
        writer.object("queue", queue) { $0.writeMembers(to: &$1) }
        writeTimes(to: &writer)
        writer.object("progress") { writeProgress(live, to: &$0) }
        writer.object("resume", live?.resume ?? resume) { $0.writeMembers(to: &$1) }
        writeOutcome(for: audience, to: &writer)
        writer.member("tags", spec.tags)
        writer.member("metadata", spec.metadata.json)
        writer.member("traceparent", trace?.parent)
    }

    private func writeState(_ live: LiveProgress?, to writer: inout JSONWriter) {
        let phase = live?.phase ?? (state.finalizePlan == nil ? .connecting : .promoting)
        writer.member("id", id.text)
        writer.member("session", session.text)
        writer.member("batch", batch)
        writer.member("state", state.name.rawValue)
        writer.member("phase", state.name == .running ? phase.rawValue : nil)
        writer.member("reason", state.wait?.name.rawValue)
        writer.member("revision", revision)
    }

    private func writeTimes(to writer: inout JSONWriter) {
        writer.member("created_at", createdAt)
        writer.member("started_at", startedAt)
        writer.member("finished_at", finishedAt)
        writer.member("not_before", spec.notBefore)
        writer.member("deadline", spec.deadline)
    }

    private func writeOutcome(for audience: Audience, to writer: inout JSONWriter) {
        writer.member("attempts", attempts)
        writer.member("retry_at", state.wait?.until)
        writer.member("challenge", challenge?.document ?? .null)
        writer.member("cause", state.wait?.cause.document ?? .null)
        writer.member("failure", state.failure?.document ?? .null)
        let finish = state.finish
        writer.object("file", finish?.file) { $0.writeMembers(to: &$1) }
        writer.object("receipt", finish?.receipt) { $0.writeMembers(for: audience, to: &$1) }
    }

    private var challenge: Challenge? { state.wait?.challenge ?? state.failure?.challenge }

    private func writeProgress(_ live: LiveProgress?, to writer: inout JSONWriter) {
        let running = state.name == .running ? live : nil
        writer.writeProgress(
            received: max(running?.bytesReceived ?? bytesDurable, 0), durable: running?.bytesDurable ?? bytesDurable,
            expected: running?.bytesExpected ?? bytesExpected, rate: running?.bytesPerSecond,
            isFinished: state.finish != nil)
    }
}

extension Job.Audience {
    fileprivate func shown(_ url: String) -> String {
        switch self {
        case .full: URLRule.withoutCredentials(url)
        case .redacted: URLRule.redacted(url)
        }
    }
}

extension LiveProgress {
    public var document: JSON {
        var writer = JSONWriter(capacity: 256)
        writer.object {
            $0.writeProgress(
                received: max(bytesReceived, 0), durable: bytesDurable, expected: bytesExpected, rate: bytesPerSecond,
                isFinished: false)
        }
        return .text(writer.text)
    }
}

extension JSONWriter {
    /// - Parameter rate: in bytes per second.
    fileprivate mutating func writeProgress(
        received: Int64, durable: Int64, expected: Int64?, rate: Int64?, isFinished: Bool
    ) {
        let fraction: Double? =
            switch expected {
            case 0?: isFinished ? 1 : nil
            case let size?: min(1, Double(received) / Double(size))
            case nil: nil
            }
        let left = expected.flatMap { size in rate.flatMap { $0 > 0 ? Double(size - received) / Double($0) : nil } }
        member("bytes_received", received)
        member("bytes_durable", durable)
        member("bytes_expected", expected)
        member("fraction", fraction)
        member("bytes_per_second", rate)
        member("eta_seconds", left.map { Int64($0.rounded(.up)) })
    }
}

extension Destination {
    public var document: JSON {
        [
            "location": .optional(location?.text), "directory": .optional(directory), "filename": .optional(filename),
            "on_conflict": .optional(onConflict?.rawValue), "create_directories": .bool(createDirectories),
            "staging": .optional(staging?.rawValue),
        ]
    }

    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("location", location?.text)
        writer.member("directory", directory)
        writer.member("filename", filename)
        writer.member("on_conflict", onConflict?.rawValue)
        writer.member("create_directories", createDirectories)
        writer.member("staging", staging?.rawValue)
    }
}

extension ResumeOutcome {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        let (decision, why, offset): (String, RestartReason?, Int64) =
            switch self {
            case .fresh: ("fresh", nil, 0)
            case .resumed(let offset, let why): ("resumed", why, offset)
            case .restarted(let why): ("restarted", why, 0)
            }
        writer.member("decision", decision)
        writer.member("why", why?.rawValue)
        writer.member("offset", offset)
    }
}

extension Challenge {
    var document: JSON { ["scheme": .string(scheme), "realm": .optional(realm)] }
}

extension Failure {
    public var document: JSON {
        [
            "code": .string(code.rawValue), "message": .string(message), "status": .optional(status),
            "attempts": .count(attempts), "at": .time(at),
        ]
    }
}

extension FinishedFile {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("path", path)
        writer.member("location", (location ?? .default).text)
        writer.member("size", size)
        writer.member("sha256", sha256)
        writer.member("content_type", contentType)
        writer.member("url", object?.url)
        writer.member("etag", object?.etag)
        writer.member("version_id", object?.versionID)
    }
}

extension Receipt {
    fileprivate func writeMembers(for audience: Job.Audience, to writer: inout JSONWriter) {
        writer.member("final_url", audience.shown(finalURL))
        writer.member("redirects", redirects.map(audience.shown))
        writer.member("status", status)
        writer.member("etag", etag)
        writer.member("last_modified", lastModified)
        writer.member("remote_address", remoteAddress)
        writer.member("protocol", networkProtocol)
        writer.member("length_verified", lengthVerified)
        writer.member("verified_by", verifiedBy.map { JSON.strings($0.map(\.shown)) } ?? .null)
        writer.member("checksum", checksum?.mapAddresses(audience.shown).document ?? .null)
        let dropped: [JSON] = (droppedMirrors ?? []).map { mirror in
            [
                "url": .string(audience.shown(mirror.url)), "code": .string(mirror.code.rawValue),
                "message": .string(mirror.message),
            ]
        }
        writer.member("dropped_mirrors", .array(dropped))
        writer.member("resumed_by", resumedBy?.rawValue)
        writer.member("coding", coding?.document ?? .null)
        writer.member("attempts", attempts)
        writer.object("timings") { writer in
            writer.member("connect_seconds", timings.connect)
            writer.member("first_byte_seconds", timings.firstByte)
            writer.member("transfer_seconds", timings.transfer)
            writer.member("total_seconds", timings.total)
        }
    }
}

extension DigestClaim.Claimant {
    /// As documents name it: the member of the job, or the header.
    var shown: String { self == .client || self == .checksumFile ? "checksum" : rawValue }
}

extension ListedChecksum {
    fileprivate var document: JSON {
        let signature: JSON? = signature.map {
            [
                "type": .string($0.kind.rawValue), "url": .string($0.url), "key": .string($0.key),
                "trusted_comment": .optional($0.trustedComment),
            ]
        }
        return [
            "url": .string(url), "file": .optional(file), "algorithm": .string(checksum.algorithm.rawValue),
            "value": .string(checksum.value), "signature": signature ?? .null,
        ]
    }
}

extension Receipt.Coding {
    fileprivate var document: JSON {
        [
            "name": .string(name), "decoded": .bool(isDecoded), "size": .integer(size), "sha256": .optional(sha256),
        ]
    }
}

extension Job {
    /// The data of the event that reports the state that the job has just entered, as a JSON object.
    public func announcement(_ type: EventType) -> String {
        var writer = JSONWriter()
        writer.object { writeAnnouncement(type, to: &$0) }
        return writer.text
    }

    private func writeAnnouncement(_ type: EventType, to writer: inout JSONWriter) {
        switch type {
        case .jobSucceeded, .jobFailed, .jobCancelled:
            writer.object("snapshot") { writeMembers(for: .redacted, to: &$0) }
        case .jobWaiting:
            writer.member("reason", state.wait?.name.rawValue)
            writer.member("retry_at", state.wait?.until)
            writer.member("challenge", state.wait?.challenge?.document ?? .null)
            writer.member("failure", state.wait?.cause.document ?? .null)
        case .jobStarted: writer.member("attempt", attempts)
        case .jobCreated: writer.member("url", URLRule.redacted(spec.url))
        case .jobResumed:
            writer.member("offset", resumedOffset)
            writer.member("bytes_expected", bytesExpected)
        case .jobRestarted: writer.member("why", restartReason?.rawValue)
        case .jobMoved: writer.member("queue_rank", queueRank?.text)
        case .jobPaused: writer.member("bytes_durable", bytesDurable)
        case .jobDeleted, .sessionWaiting, .sessionFinished, .webhookDisabled, .webhookTest: break
        }
    }

    private var resumedOffset: Int64 { if case .resumed(let offset, _)? = resume { offset } else { 0 } }

    private var restartReason: ResumeOutcome.RestartReason? {
        if case .restarted(let why)? = resume { why } else { nil }
    }
}
