import ArgumentParser
import CurlClient
import Foundation

/// The error that ends a command: a sentence that says what to do next, and an exit status for scripts.
struct ClientError: Error, Sendable {
    var status: CommandStatus
    var sentence: String
    /// The problem document (RFC 9457) is for programs. It is the service's if the service has sent one.
    var document: [UInt8]
    /// The problem document of the service, decoded; nil if the error is the client's own.
    private(set) var problem: ProblemDocument?

    /// - Parameter title: the title of the problem document; always the same for the same error.
    init(_ status: CommandStatus, _ title: String, _ sentence: String) {
        self.status = status
        self.sentence = sentence
        document = ProblemDocument(title: title, detail: sentence).bytes
    }

    init(refusal problem: ProblemDocument, bytes: [UInt8], httpStatus: Int) {
        // The request for a job in a session that does not exist is 422: its own path exists.
        status = problem.type == "/problems/unknown-session" ? .missing : CommandStatus(httpStatus: httpStatus)
        sentence = problem.sentence
        document = bytes
        self.problem = problem
    }

    /// - Parameter advice: replaces the detail of the problem, because the service does not know this client's options.
    init(refusal problem: ProblemDocument, advice: String, httpStatus: Int) {
        var problem = problem
        problem.detail = advice
        self.init(refusal: problem, bytes: problem.bytes, httpStatus: httpStatus)
    }
}

extension ClientError {
    static func unreachable(_ address: ServiceAddress, _ cause: TransferError) -> ClientError {
        // This replaces libcurl's text for the most frequent case: no process listens at the address.
        if case .connectFailed = cause { return unreachable(address, "it cannot connect") }
        return unreachable(address, "\(cause)")
    }

    /// A gateway, such as a reverse proxy, answers that the service behind it is unavailable.
    static func unreachable(_ address: ServiceAddress, behindGateway status: Int) -> ClientError {
        unreachable(address, "the gateway in front of it answers \(status)")
    }

    private static func unreachable(_ address: ServiceAddress, _ reason: String) -> ClientError {
        ClientError(
            .unavailable, "fetchd cannot be reached",
            "fetchd is not answering at \(address): \(reason). "
                + "Start it with 'fetchd serve', or set its address with --url or FETCHD_URL.")
    }

    static func notFetchd(_ address: ServiceAddress, _ what: String) -> ClientError {
        ClientError(
            .protocolError, "This is not fetchd",
            "The server at \(address) is not fetchd: \(what). Set the address of the service with --url or FETCHD_URL.")
    }

    static func unwritable(_ file: String, _ reason: String) -> ClientError {
        ClientError(.unwritable, "The file cannot be written", "\(file) cannot be written: \(reason).")
    }

    static func unreadable(_ file: String, _ reason: String) -> ClientError {
        ClientError(.missing, "The file cannot be read", "\(file) cannot be read: \(reason).")
    }

    /// - Parameter reasons: for each download that needs an action of the user, a sentence that names the action.
    static func overdue(_ reasons: [String] = []) -> ClientError {
        ClientError(
            .overdue, "The timeout has passed",
            (["The time of --timeout has passed."] + reasons + [
                "The downloads continue in the service. To see them: fetchd list, or fetchd watch."
            ]).joined(separator: " "))
    }
}

// MARK: - Names of options

extension ClientError {
    /// The same error for the user of a command, who has not seen the request: it names options instead of members.
    func naming(optionsOf command: (some ParsableCommand).Type) -> ClientError {
        guard problem != nil else { return self }
        let help = command.helpMessage()
        var error = self
        error.sentence = sentence.replacing(/`([^`]+)`|\(in \/([^)]+)\)/) { match in
            let member = match.1 ?? match.2?.split(separator: "/").joined(separator: ".")[...]
            let option = member.flatMap { Self.option(for: $0) }
            guard let option, help.contains(option.name) else { return String(match.0) }
            return match.1 == nil ? "(in \(option.text))" : option.text
        }
        return error
    }

    /// The option that sets a member, such as `destination.filename` or `headers.Accept`.
    private static func option(for member: Substring) -> (name: String, text: String)? {
        let whole = member.replacing(/^jobs\.[0-9]+\./, with: "")
        var path = whole[...]
        while true {
            if let name = options[String(path)] {
                let isOneHeader = path == "headers" && path != whole
                return (name, isOneHeader ? "\(name) '\(whole.dropFirst(path.count + 1))'" : name)
            }
            guard let dot = path.lastIndex(of: ".") else { return nil }
            path = path[..<dot]
        }
    }

    private static let options = [
        "checksum": "--checksum", "checksum.file": "--checksum-name", "checksum.signature": "--signature-url",
        "checksum.signature.keys": "--key", "checksum.url": "--checksum-url", "connections": "--connections",
        "credentials.password": "--password-file",
        "credentials.token": "--bearer-file", "credentials.username": "--user", "deadline": "--deadline",
        "destination": "--out", "destination.location": "--location", "destination.staging": "--staging",
        "destination.on_conflict": "--on-conflict",
        "directory": "--directory",
        "events": "--event", "expires_at": "--expires", "filter.ended_before": "--older-than",
        "filter.session": "--session", "headers": "--header", "locations": "--location",
        "max_concurrent_jobs": "--max-concurrent-jobs",
        "max_total_size": "--max-total-size", "not_before": "--not-before", "on_conflict": "--on-conflict",
        "overlap_seconds": "--overlap", "priority": "--priority", "quotas.bytes_per_day": "--max-bytes-per-day",
        "quotas.concurrent_transfers": "--max-concurrent-transfers",
        "quotas.outstanding_jobs": "--max-outstanding-jobs", "quotas.requests_per_second": "--max-requests-per-second",
        "rate_limit_bytes_per_second": "--rate-limit", "scope": "--scope", "secret": "--secret-file",
        "session": "--session", "sessions": "--session", "tags": "--tag", "tls.ca_file": "--endpoint-ca-file",
        "tls.pinned_public_keys": "--endpoint-pin", "urls": "--mirror", "wait_for": "--wait-for",
    ]
}

// MARK: - Parts of an error

/// The exit statuses of the commands. They are stable, and docs/command-line.md documents them. From 64 to 78 they follow
/// sysexits.h as far as possible.
enum CommandStatus: Int32, Sendable, CaseIterable {
    case succeeded = 0
    /// A download that the command waited for has failed or was cancelled.
    case failed = 1
    /// A download that the command waited for has failed, because its bytes are not, or cannot be, verified.
    case unverified = 2
    /// The command line has a mistake (EX_USAGE; swift-argument-parser uses it, too).
    case misused = 64
    /// The service refused a value as invalid (EX_DATAERR): 400, 413, 415, 422.
    case refused = 65
    /// The job, session, webhook or file does not exist (EX_NOINPUT): 404, 410; or an input file cannot be read.
    case missing = 66
    /// The service does not answer, or it is starting, stopping or out of space (EX_UNAVAILABLE): 503; or a gateway says so.
    case unavailable = 69
    /// The service failed (EX_SOFTWARE): other statuses from 500 on.
    case broken = 70
    /// A file or standard output cannot be written (EX_CANTCREAT).
    case unwritable = 73
    /// The current state does not allow the action (EX_TEMPFAIL): 409, 412; or a quota of the token is used up: 429.
    case conflicting = 75
    /// The server at the address is not fetchd (EX_PROTOCOL).
    case protocolError = 76
    /// A token is required, or the token is wrong (EX_NOPERM): 401, 403; or the host name is not the service's: 421.
    case denied = 77
    /// The configuration file cannot be used (EX_CONFIG).
    case misconfigured = 78
    /// The time of --timeout has passed, as with timeout(1).
    case overdue = 124

    init(httpStatus status: Int) {
        self =
            switch status {
            case 401, 403, 421: .denied
            case 404, 410: .missing
            case 409, 412, 429: .conflicting
            case 503: .unavailable
            case 400..<500: .refused
            default: .broken
            }
    }
}

/// A problem document (RFC 9457).
struct ProblemDocument: Codable, Sendable {
    var type: String? = "about:blank"
    var title: String
    var status: Int?
    var detail: String?
    var pointer: String?

    /// The detail for a user of the command line. It names commands instead of requests, and ends with the pointer if the text
    /// does not already name the member: the user has not seen the request body.
    var sentence: String {
        let text = (detail ?? title).replacing(", with PUT /v1/sessions/", with: ": fetchd session set ")
        guard let pointer, !pointer.isEmpty else { return text }
        let member = pointer.dropFirst().replacing("/", with: ".")
        return text.contains("`\(member)`") || text.contains(": fetchd ") ? text : "\(text) (in \(pointer))"
    }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The encoder fails only for values that JSON cannot express, such as infinite numbers; a problem has none.
        return (try? encoder.encode(self)).map(Array.init) ?? Array("null".utf8)
    }
}
