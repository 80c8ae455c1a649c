import CurlClient
import Foundation

/// A problem document (RFC 9457).
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

    /// The detail for a user of the command line. It names commands instead of requests, and ends with the pointer if the text
    /// does not already name the member: the user has not seen the request body.
    var sentence: String {
        let text = (detail ?? title).replacing(", with PUT /v1/sessions/", with: ": fetchd session set ")
        guard let pointer, !pointer.isEmpty else { return text }
        let member = pointer.dropFirst().replacing("/", with: ".")
        return text.contains("`\(member)`") || text.contains(": fetchd ") ? text : "\(text) (in \(pointer))"
    }

    var bytes: [UInt8] { JSONText.written(self) }
}
