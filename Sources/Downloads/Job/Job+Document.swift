import Formats
import Foundation
import HTTPSemantics

/// The job as the API shows it. The document belongs to the domain, not to the API, because the journal stores it: a
/// terminal event contains the whole job.
extension Job {
    enum Audience {
        /// The client: complete URLs, but without user name and password.
        case client
        /// Events, deliveries and logs: URLs also without their query, which often contains a signature.
        case journal
    }

    /// The document for the job's clients.
    public func document(live: LiveProgress? = nil) -> JSON { document(for: .client, live: live) }

    func document(for audience: Audience, live: LiveProgress? = nil) -> JSON {
        let url = { (text: String) in
            audience == .client ? URLRule.withoutCredentials(text) : URLRule.redacted(text)
        }
        let phase = live?.phase ?? (state.promotion == nil ? .connecting : .promoting)
        return [
            "id": .string(id.text), "session": .string(session.text), "batch": .count(batch),
            "state": .string(state.name.rawValue),
            "phase": state.name == .running ? .string(phase.rawValue) : .null,
            "reason": .optional(state.wait?.name.rawValue), "revision": .count(revision),
            "url": .string(url(self.url)), "destination": spec.destination.document,
            "priority": .string((spec.priority ?? .normal).rawValue),
            "created_at": .time(createdAt), "started_at": .optional(startedAt), "finished_at": .optional(finishedAt),
            "not_before": .optional(spec.notBefore), "deadline": .optional(spec.deadline),
            "progress": progress(live), "resume": (live?.resume ?? resume)?.document ?? .null,
            "attempts": .count(attempts),
            "retry_at": .optional(state.wait?.until), "challenge": challenge?.document ?? .null,
            "cause": state.wait?.cause.document ?? .null, "failure": state.failure?.document ?? .null,
            "file": state.finish?.file.document ?? .null,
            "receipt": state.finish?.receipt.document(url) ?? .null,
            "tags": .strings(spec.tags), "metadata": spec.metadata.json,
        ]
    }

    /// The challenge that the job waits to answer, or that it has failed to answer.
    private var challenge: Challenge? { state.wait?.challenge ?? state.failure?.challenge }

    private func progress(_ live: LiveProgress?) -> JSON {
        let running = state.name == .running ? live : nil
        return JSON.progress(
            received: max(running?.bytesReceived ?? bytesDurable, 0), durable: running?.bytesDurable ?? bytesDurable,
            expected: running?.bytesExpected ?? bytesExpected, rate: running?.bytesPerSecond,
            isFinished: state.finish != nil)
    }
}

extension LiveProgress {
    /// The `progress` member of a job.
    public var document: JSON {
        JSON.progress(
            received: max(bytesReceived, 0), durable: bytesDurable, expected: bytesExpected, rate: bytesPerSecond,
            isFinished: false)
    }
}

extension JSON {
    /// - Parameter rate: in bytes per second.
    fileprivate static func progress(
        received: Int64, durable: Int64, expected: Int64?, rate: Int64?, isFinished: Bool
    ) -> JSON {
        let fraction: Double? =
            switch expected {
            case 0?: isFinished ? 1 : nil
            case let size?: min(1, Double(received) / Double(size))
            case nil: nil
            }
        let left = expected.flatMap { size in rate.flatMap { $0 > 0 ? Double(size - received) / Double($0) : nil } }
        return [
            "bytes_received": .integer(received), "bytes_durable": .integer(durable),
            "bytes_expected": .optional(expected), "fraction": .optional(fraction),
            "bytes_per_second": .optional(rate),
            "eta_seconds": .optional(left.map { Int64($0.rounded(.up)) }),
        ]
    }
}

extension Destination {
    public var document: JSON {
        [
            "directory": .optional(directory), "filename": .optional(filename),
            "on_conflict": .optional(onConflict?.rawValue), "create_directories": .bool(createDirectories),
        ]
    }
}

extension ResumeOutcome {
    var document: JSON {
        switch self {
        case .fresh: ["decision": "fresh", "why": .null, "offset": 0]
        case .resumed(let offset, let why):
            ["decision": "resumed", "why": .optional(why?.rawValue), "offset": .integer(offset)]
        case .restarted(let why): ["decision": "restarted", "why": .string(why.rawValue), "offset": 0]
        }
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
    var document: JSON {
        [
            "path": .string(path), "size": .integer(size), "sha256": .optional(sha256),
            "content_type": .optional(contentType),
        ]
    }
}

extension Receipt {
    func document(_ url: (String) -> String) -> JSON {
        [
            "final_url": .string(url(finalURL)), "redirects": .strings(redirects.map(url)), "status": .count(status),
            "etag": .optional(etag), "last_modified": .optional(lastModified),
            "remote_address": .optional(remoteAddress), "protocol": .string(networkProtocol),
            "length_verified": .bool(lengthVerified), "coding": coding?.document ?? .null, "attempts": .count(attempts),
            "timings": [
                "connect_seconds": .number(timings.connect), "first_byte_seconds": .number(timings.firstByte),
                "transfer_seconds": .number(timings.transfer), "total_seconds": .number(timings.total),
            ],
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
