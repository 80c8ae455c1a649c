import Foundation

/// The jobs that were added, in the order of the arguments.
struct AddedJobs: Sendable {
    let jobs: [JobDocument]
    /// The answer of the service.
    let text: JSONText
    let isBatch: Bool

    var documents: [JSONText] { isBatch ? text["jobs"]?.elements ?? [] : [text] }

    /// The documents in the form of the answer: a list for a batch, otherwise one document.
    func text(of documents: [JSONText]) -> JSONText {
        isBatch ? .object([("jobs", .array(documents))]) : documents[0]
    }
}
