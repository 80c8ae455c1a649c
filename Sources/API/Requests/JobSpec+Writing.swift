import Downloads
import Formats
import HTTPSemantics

/// Writes specifications as the requests that create them: the inverse of `JobSpec(reading:)` and the like. Members with
/// their default are left out.
extension JobSpec {
    /// - Parameter session: the session of the job.
    public func request(in session: Name) -> JSON {
        var object = JSONObject()
        if mirrors.isEmpty { object["url"] = .string(url) } else { object["urls"] = .strings([url] + mirrors) }
        object["session"] = .string(session.text)
        if method != .get { object["method"] = .string(method.rawValue) }
        if let (name, value) = body?.member { object[name] = value }
        if !headers.isEmpty { object["headers"] = headers.request }
        object["credentials"] = credentials?.request
        if destination != Destination() { object["destination"] = destination.request }
        object["priority"] = priority.map { .string($0.rawValue) }
        object["connections"] = connections.map(JSON.count)
        object["expected_size"] = expectedSize.map(JSON.integer)
        object["max_size"] = maxSize.map(JSON.integer)
        object["digest"] = digest.map { .string($0.rawValue) }
        object["decode"] = decodes.map(JSON.bool)
        object["checksum"] = checksum.map {
            ["algorithm": .string($0.algorithm.rawValue), "value": .string($0.value)]
        }
        if timeouts != Timeouts() { object["timeouts"] = timeouts.request }
        object["retry"] = retry?.request
        object["wait_for"] = waitFor.map { .strings($0.map(\.rawValue)) }
        object["rate_limit_bytes_per_second"] = rateLimit.map(JSON.integer)
        object["not_before"] = notBefore.map(JSON.time)
        object["deadline"] = deadline.map(JSON.time)
        if !tags.isEmpty { object["tags"] = .strings(tags) }
        if metadata != Metadata() { object["metadata"] = metadata.parsed }
        return .object(object)
    }
}

extension SessionConfiguration {
    public var request: JSON {
        var object = JSONObject()
        if !headers.isEmpty { object["headers"] = headers.request }
        object["user_agent"] = userAgent.map(JSON.string)
        if timeouts != Timeouts() { object["timeouts"] = timeouts.request }
        object["max_concurrent_jobs"] = maxConcurrentJobs.map(JSON.count)
        object["max_connections_per_host"] = maxConnectionsPerHost.map(JSON.count)
        object["retry"] = retry?.request
        object["directory"] = directory.map(JSON.string)
        object["on_conflict"] = onConflict.map { .string($0.rawValue) }
        object["wait_for"] = waitFor.map { .strings($0.map(\.rawValue)) }
        object["digest"] = digest.map { .string($0.rawValue) }
        object["decode"] = decodes.map(JSON.bool)
        object["priority"] = priority.map { .string($0.rawValue) }
        object["finish_delay_seconds"] = finishDelaySeconds.map(JSON.number)
        object["acknowledgement"] = acknowledgement.map { .string($0.rawValue) }
        if metadata != Metadata() { object["metadata"] = metadata.parsed }
        object["rate_limit_bytes_per_second"] = rateLimit.map(JSON.integer)
        object["minimum_bytes_per_second"] = minimumSpeed.map(JSON.integer)
        if tls != TLSRule() { object["tls"] = tls.request }
        object["proxy"] = proxy.map { .string($0.withCredentials) }
        object["resume_data_ttl_seconds"] = resumeDataTTL.map(JSON.number)
        object["connections"] = connections.map(JSON.count)
        object["max_total_size"] = maxTotalSize.map(JSON.integer)
        return .object(object)
    }
}

extension Webhook {
    /// The declaration.
    ///
    /// - Parameter withSecret: whether it has the secret that signs.
    public func request(withSecret: Bool) -> JSON {
        var object = JSONObject()
        object["url"] = .string(url)
        object["events"] = .strings(events.map(\.text))
        if !headers.isEmpty { object["headers"] = headers.request }
        if tls != TLSRule() { object["tls"] = tls.request }
        if withSecret { object["secret"] = secret.map { .string($0.text) } }
        return .object(object)
    }
}
