import CurlClient
import Foundation

/// Why a command ends: a sentence that says what to do next, and a status for scripts.
struct ClientError: Error, Sendable {
    var status: CommandStatus
    /// For people.
    var sentence: String
    /// For programs: a problem document (RFC 9457), the service's own where it sent one.
    var document: [UInt8]
    /// As the service told it.
    private(set) var problem: ProblemDocument?

    /// - Parameter title: the same whenever this happens, for the document.
    init(_ status: CommandStatus, _ title: String, _ sentence: String) {
        self.status = status
        self.sentence = sentence
        document = ProblemDocument(title: title, detail: sentence).bytes
    }

    init(refusal problem: ProblemDocument, bytes: [UInt8], answer: Int) {
        status = CommandStatus(answer: answer)
        sentence = problem.sentence
        document = bytes
        self.problem = problem
    }

    /// What this client is told by, in place of what the service cannot know; for programs, too.
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
                + "Start it with 'fetchd serve', or say where it is with --url or FETCHD_URL.")
    }

    /// Without libcurl's own words for what is the ordinary case: that nobody listens there.
    private static func reason(_ cause: TransferError) -> String {
        if case .connectFailed = cause { return "no connection is taken there" }
        return "\(cause)"
    }

    /// A gateway, such as a reverse proxy, that has nobody behind it just now.
    static func unreachable(_ address: ServiceAddress, behindGateway status: Int) -> ClientError {
        ClientError(
            .unavailable, "fetchd cannot be reached",
            "fetchd is not answering at \(address): what stands before it says \(status). "
                + "Start it with 'fetchd serve', or say where it is with --url or FETCHD_URL.")
    }

    static func strange(_ address: ServiceAddress, _ what: String) -> ClientError {
        ClientError(
            .strange, "This is not fetchd",
            "What answers at \(address) is not fetchd: \(what). Say where the service is with --url or FETCHD_URL.")
    }

    static func unwritable(_ file: String, _ reason: String) -> ClientError {
        ClientError(.unwritable, "The file cannot be written", "\(file) cannot be written: \(reason).")
    }

    static func unreadable(_ file: String, _ reason: String) -> ClientError {
        ClientError(.missing, "The file cannot be read", "\(file) cannot be read: \(reason).")
    }

    /// - Parameter reasons: why downloads stand still, and what helps; none where they go on.
    static func overdue(_ reasons: [String] = []) -> ClientError {
        ClientError(
            .overdue, "The time is over",
            (["The time given by --timeout is over."] + reasons + [
                "The downloads go on; look at them with 'fetchd list' or 'fetchd watch'."
            ]).joined(separator: " "))
    }
}

/// A problem as it is told and understood (RFC 9457).
struct ProblemDocument: Codable, Sendable {
    var type: String? = "about:blank"
    var title: String
    var status: Int?
    var detail: String?
    var pointer: String?

    init(title: String, detail: String) {
        self.title = title
        self.detail = detail
    }

    /// In the words of a command line. Where the mistake is comes last, unless it was said: who typed flags has not seen
    /// the body that it points into.
    var sentence: String {
        let text = (detail ?? title).replacing(", with PUT /v1/sessions/", with: ": fetchd session set ")
        guard let pointer, !pointer.isEmpty else { return text }
        let member = pointer.dropFirst().replacing("/", with: ".")
        return text.contains("`\(member)`") || text.contains(": fetchd ") ? text : "\(text) (in \(pointer))"
    }

    var bytes: [UInt8] { JSONText.written(self) }
}
