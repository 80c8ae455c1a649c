enum JobDescription {
    static func state(_ job: JobDocument) -> String {
        guard job.state == "waiting", let reason = job.reason else { return job.state }
        return "waiting: \(reason)"
    }

    /// The state for a list: with the reason if the job waits or has failed, or if something keeps it in the queue.
    static func stateWithReason(_ job: JobDocument) -> String {
        if let queue = job.queue, let blocker = queue.blockedBy {
            return "queued: \(blocker)" + (queue.until.map { " until \(DisplayFormat.time($0))" } ?? "")
        }
        guard job.state == "failed", let failure = job.failure else { return state(job) }
        let status = failure.code == "bad_status" ? failure.status.map { " \($0)" } ?? "" : ""
        return "failed: \(failure.code)\(status)"
    }

    static func ending(_ job: JobDocument) -> String {
        switch job.state {
        case "succeeded":
            let size = job.file.map { " (\(DisplayFormat.bytes($0.size)))" } ?? ""
            return "succeeded: \(job.file?.path ?? job.name)\(size)"
        case "failed":
            return job.failure.map { "failed: \(failure($0))" } ?? "failed"
        default:
            return job.state
        }
    }

    /// The state and the name of a job. A failed job is named by its URL, because the user has to check it. The query is left
    /// out: it may contain a secret, and lines end up in logs.
    static func line(_ job: JobDocument) -> String {
        guard let failure = job.failure, job.state == "failed" else {
            return job.hasSucceeded ? ending(job) : "\(state(job)): \(job.name)"
        }
        return "failed: \(job.url.prefix { $0 != "?" && $0 != "#" }): \(self.failure(failure))"
    }

    private static func failure(_ failure: JobDocument.Failure) -> String {
        "\(failure.code): \(failure.message)" + (failure.status.map { " (HTTP status \($0))" } ?? "")
    }

    /// A sentence about a job that cannot continue without an action of the user; nil for other jobs.
    static func neededAction(_ job: JobDocument) -> String? {
        let isBlocked = job.state == "waiting" && ["credentials", "url"].contains(job.reason)
        guard isBlocked || job.state == "paused" else { return nil }
        return ["\(job.id) \(line(job)).", advice(job)].compactMap(\.self).joined(separator: " ")
    }

    /// The advice while the job is watched. For a cancelled job there is none: it was cancelled on purpose.
    static func adviceOnTheWay(_ job: JobDocument) -> String? { job.state == "cancelled" ? nil : advice(job) }

    static func advice(_ job: JobDocument) -> String? {
        switch job.state {
        case "failed": failureAdvice(job)
        case "cancelled": "To download it anyway: fetchd retry \(job.id)"
        case "waiting": waitingAdvice(job)
        case "paused": "To continue: fetchd resume \(job.id)"
        default: nil
        }
    }

    private static func waitingAdvice(_ job: JobDocument) -> String? {
        switch job.reason {
        case "credentials" where job.cause?.code == "proxy_credentials_required":
            "Declare session \(job.session) with the right user and password in its `proxy`; its jobs then continue."
        case "credentials":
            "The server requires credentials: fetchd update \(job.id) --user NAME --password-file FILE"
        case "url": "The link has expired. To set a new one: fetchd update \(job.id) --from NEW-URL"
        case "space": "It continues automatically when the service's disk has enough free space."
        case "storage": "It continues automatically when the service's downloads folder works again."
        case "network": "It continues automatically when the service's machine has a network connection again."
        case "retry":
            job.retryAt.map {
                "The next attempt is at \(DisplayFormat.time($0)). To start it now: fetchd resume \(job.id)"
            }
        default: nil
        }
    }

    private static func failureAdvice(_ job: JobDocument) -> String? {
        guard let failure = job.failure else { return nil }
        let retry = "fetchd retry \(job.id)"
        return switch failure.code {
        case "bad_url", "too_many_redirects": "Check the address, and add the right one."
        case "blocked_address":
            "The settings of fetchd serve decide where it may connect, such as --allow-network. After a change: \(retry)"
        case "bad_status" where failure.status == 404 || failure.status == 410:
            "Check the address. If it is right: \(retry)"
        case "credentials_required":
            "Set credentials: fetchd update \(job.id) --user NAME --password-file FILE, then: \(retry)"
        case "proxy_credentials_required":
            "Declare session \(job.session) with the right user and password in its `proxy`, then: \(retry)"
        case "link_expired":
            "Set a new link: fetchd update \(job.id) --from NEW-URL, then continue from the kept bytes: \(retry)"
        case "checksum_mismatch", "size_mismatch":
            "Check the expected value. If it is right, the server has a different file at this address."
        case "checksum_unavailable": "Check the address of the checksums, and the name in the list. Then: \(retry)"
        case "signature_invalid":
            "The list of checksums is not signed by the given key. Do not use the file from this server before you know why."
        case "too_large": "To download it anyway, add it again with a larger limit."
        case "destination_exists", "destination_invalid":
            "Choose another path: fetchd update \(job.id) --out NEW-PATH, then: \(retry)"
        case "no_space": "Free some space on the service's disk, then: \(retry)"
        case "storage_error": "Check the service's log and disk, then: \(retry)"
        default: "To try again: \(retry)"
        }
    }
}
