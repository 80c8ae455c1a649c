/// What is said of a job, in sentences that say what to do next.
enum JobDescription {
    /// A word or two for a column.
    static func state(_ job: JobDocument) -> String {
        guard job.state == "waiting", let reason = job.reason else { return job.state }
        return "waiting: \(reason)"
    }

    /// How a job ended: for one that failed its code, message and HTTP status.
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

    /// How it stands, and which it is: what failed by its URL, as that is what has to be looked at; without the query,
    /// which may be a secret, as lines end up in logs.
    static func line(_ job: JobDocument) -> String {
        guard let failure = job.failure, job.state == "failed" else {
            return job.hasSucceeded ? ending(job) : "\(state(job)): \(job.name)"
        }
        return "failed: \(job.url.prefix { $0 != "?" && $0 != "#" }): \(self.failure(failure))"
    }

    private static func failure(_ failure: JobDocument.Failure) -> String {
        "\(failure.code): \(failure.message)" + (failure.status.map { " (HTTP status \($0))" } ?? "")
    }

    /// Of a job that stands still until somebody acts, whoever that may be; nil of others.
    static func neededAction(_ job: JobDocument) -> String? {
        let isHelpless = job.state == "waiting" && ["credentials", "url"].contains(job.reason)
        guard isHelpless || job.state == "paused" else { return nil }
        return ["\(job.id) \(line(job)).", advice(job)].compactMap(\.self).joined(separator: " ")
    }

    /// What was cancelled while it was watched was meant to be, and may be gone in a moment.
    static func adviceOnTheWay(_ job: JobDocument) -> String? {
        job.state == "cancelled" ? nil : advice(job)
    }

    /// What can be done about it; nil when there is nothing to be done.
    static func advice(_ job: JobDocument) -> String? {
        switch job.state {
        case "failed": failureAdvice(job)
        case "cancelled": "To have it all the same: fetchd retry \(job.id)"
        case "waiting": waitingAdvice(job)
        case "paused": "To go on: fetchd resume \(job.id)"
        default: nil
        }
    }

    private static func waitingAdvice(_ job: JobDocument) -> String? {
        switch job.reason {
        case "credentials":
            "The server wants to know who asks: fetchd update \(job.id) --user NAME --password-file FILE"
        case "url": "The link has expired. Get a new one, and: fetchd update \(job.id) --from NEW-URL"
        case "space": "It goes on by itself when there is room on the service's disk."
        case "storage": "It goes on by itself when the service's downloads folder works again."
        case "network": "It goes on by itself when the service's machine has a network again."
        case "retry":
            job.retryAt.map { "It is tried again at \(DisplayFormat.time($0)); at once: fetchd resume \(job.id)" }
        default: nil
        }
    }

    private static func failureAdvice(_ job: JobDocument) -> String? {
        guard let failure = job.failure else { return nil }
        let retry = "fetchd retry \(job.id)"
        switch failure.code {
        case "bad_url", "too_many_redirects": return "Check the address, and add the right one."
        case "blocked_address":
            return "If the address is yours, start fetchd serve with --allow-network for its network, then: \(retry)"
        case "bad_status" where failure.status == 404 || failure.status == 410:
            return "Check the address. If it is right after all: \(retry)"
        case "credentials_required":
            return "Say who asks: fetchd update \(job.id) --user NAME --password-file FILE, then: \(retry)"
        case "link_expired":
            return "Get a new link: fetchd update \(job.id) --from NEW-URL, then, from the bytes it has: \(retry)"
        case "checksum_mismatch", "size_mismatch":
            return "Check what was expected; if that is right, the file at this address is another one."
        case "too_large": return "Add it again with a larger limit if you want it all the same."
        case "destination_exists", "destination_invalid":
            return "Put it elsewhere: fetchd update \(job.id) --out NEW-PATH, then: \(retry)"
        case "no_space": return "Make room on the service's disk, then: \(retry)"
        case "storage_error": return "Look at the service's log and at its disk, then: \(retry)"
        default: return "To try again: \(retry)"
        }
    }
}
