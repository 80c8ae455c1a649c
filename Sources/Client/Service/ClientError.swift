import CurlClient
import Foundation

/// The error that ends a command: a sentence that says what to do next, and an exit status for scripts.
struct ClientError: Error, Sendable {
    var status: CommandStatus
    /// For people.
    var sentence: String
    /// For programs: a problem document (RFC 9457), from the service if it has sent one.
    var document: [UInt8]
    /// The problem document of the service.
    private(set) var problem: ProblemDocument?

    /// - Parameter title: the title of the problem document; always the same for the same error.
    init(_ status: CommandStatus, _ title: String, _ sentence: String) {
        self.status = status
        self.sentence = sentence
        document = ProblemDocument(title: title, detail: sentence).bytes
    }

    init(refusal problem: ProblemDocument, bytes: [UInt8], answer: Int) {
        // The request for a job in a session that does not exist is 422: its own path exists.
        status = problem.type == "/problems/unknown-session" ? .missing : CommandStatus(answer: answer)
        sentence = problem.sentence
        document = bytes
        self.problem = problem
    }

    /// - Parameter advice: replaces the detail of the problem, because the service does not know this client's options.
    init(refusal problem: ProblemDocument, advice: String, answer: Int) {
        var problem = problem
        problem.detail = advice
        self.init(refusal: problem, bytes: problem.bytes, answer: answer)
    }
}

extension ClientError {
    static func unreachable(_ address: ServiceAddress, _ cause: TransferError) -> ClientError {
        ClientError(
            .unavailable, "fetchd cannot be reached",
            "fetchd is not answering at \(address): \(reason(cause)). "
                + "Start it with 'fetchd serve', or set its address with --url or FETCHD_URL.")
    }

    /// Replaces libcurl's text for the most frequent case: no process listens at the address.
    private static func reason(_ cause: TransferError) -> String {
        if case .connectFailed = cause { return "it cannot connect" }
        return "\(cause)"
    }

    /// A gateway, such as a reverse proxy, answers that the service behind it is unavailable.
    static func unreachable(_ address: ServiceAddress, behindGateway status: Int) -> ClientError {
        ClientError(
            .unavailable, "fetchd cannot be reached",
            "fetchd is not answering at \(address): the gateway in front of it answers \(status). "
                + "Start it with 'fetchd serve', or set its address with --url or FETCHD_URL.")
    }

    static func strange(_ address: ServiceAddress, _ what: String) -> ClientError {
        ClientError(
            .strange, "This is not fetchd",
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
