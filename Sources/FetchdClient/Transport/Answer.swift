import Foundation

/// An answer of the service.
struct Answer: Sendable {
    let status: Int
    let entityTag: String?
    let body: Data

    var isSuccess: Bool { (200..<300).contains(status) }

    func decoded<Document: Decodable>(as type: Document.Type) throws(FetchdError) -> Document {
        do {
            return try Wire.decoder().decode(type, from: body)
        } catch {
            throw .unexpectedAnswer("\(error)")
        }
    }

    /// The error that a refusal stands for.
    var refusal: FetchdError {
        guard let problem = try? Wire.decoder().decode(ProblemDocument.self, from: body) else {
            return status == 429 || status >= 500
                ? .refused(ServiceProblem(status: status, type: "about:blank", title: "", detail: "", pointer: nil))
                : .unexpectedAnswer("the status is \(status)")
        }
        if problem.status == 410, let first = problem.firstAvailable { return .eventsLost(firstAvailable: first) }
        return .refused(
            ServiceProblem(
                status: problem.status, type: problem.type, title: problem.title, detail: problem.detail ?? "",
                pointer: problem.pointer))
    }
}

private struct ProblemDocument: Decodable {
    let type: String
    let title: String
    let status: Int
    let detail: String?
    let pointer: String?
    let firstAvailable: Int64?
}
