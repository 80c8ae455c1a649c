import Downloads
import Formats
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Storage

/// A session in the form of the API contract.
extension SessionStatus {
    var document: JSON {
        [
            "id": .string(session.id.text), "state": .string(state.rawValue),
            "configuration": session.configuration.document,
            "counts": .object(
                JobState.Name.allCases.reduce(into: JSONObject()) { $0[$1.rawValue] = .count(counts[$1] ?? 0) }),
            "progress": ["bytes_received": .integer(bytesReceived), "bytes_expected": .optional(bytesExpected)],
            "batch": .count(batch), "finish_due_at": .optional(finishDueAt), "last_event": .integer(lastEvent),
            "acknowledged_through": .integer(acknowledgedThrough),
            "unacknowledged_since": .optional(unacknowledgedSince), "created_at": .time(session.createdAt),
        ]
    }
}

extension SessionStatus {
    /// The document with its ETag.
    func response(_ status: HTTPResponse.Status = .ok) -> Response {
        let document = document
        return .json(document, status, headers: [.eTag: JobETag(session, in: document.line).text])
    }
}

extension SessionConfiguration {
    /// The configuration with its default values filled in.
    var document: JSON {
        let retry = retry ?? RetryPolicy()
        return [
            "headers": .object(
                headers.reduce(into: JSONObject()) { $0[$1.name] = .string($1.redacted.value) }),
            "user_agent": .string(userAgent ?? Self.defaultUserAgent),
            "timeouts": [
                "request_seconds": .optional(timeouts.requestSeconds ?? Timeouts.defaults.requestSeconds),
                "connect_seconds": .optional(timeouts.connectSeconds ?? Timeouts.defaults.connectSeconds),
                "resource_seconds": .optional(timeouts.resourceSeconds ?? Timeouts.defaults.resourceSeconds),
            ],
            "minimum_bytes_per_second": .optional(minimumSpeed),
            "max_concurrent_jobs": .optional(maxConcurrentJobs),
            "max_connections_per_host": .optional(maxConnectionsPerHost),
            "rate_limit_bytes_per_second": .optional(rateLimit), "max_total_size": .optional(maxTotalSize),
            "retry": [
                "max_attempts": .count(retry.maxAttempts), "base_seconds": .number(retry.baseSeconds),
                "max_seconds": .number(retry.maxSeconds),
            ],
            "tls": tls.document, "proxy": .optional(proxy?.url),
            "directory": .string(directory ?? ""), "on_conflict": .string((onConflict ?? .rename).rawValue),
            "wait_for": .strings((waitFor ?? WaitFor.defaults).map(\.rawValue)),
            "digest": .string((digest ?? .sha256).rawValue), "decode": .bool(decodes ?? false),
            "priority": .string((priority ?? .normal).rawValue),
            "finish_delay_seconds": .number(finishDelaySeconds ?? Self.defaultFinishDelaySeconds),
            "acknowledgement": .optional(acknowledgement?.rawValue),
            "resume_data_ttl_seconds": .number(resumeDataTTL ?? Self.defaultResumeDataTTL),
            "connections": .count(connections ?? 1), "metadata": metadata.json,
        ]
    }
}

extension TLSRule {
    var document: JSON {
        [
            "ca_file": .optional(caFile),
            "pinned_public_keys": .object(
                pinnedPublicKeys.sorted { $0.key < $1.key }.reduce(into: JSONObject()) {
                    $0[$1.key] = .strings($1.value)
                }),
            "verify": .bool(verify),
        ]
    }
}
