import Formats
import Lists
import Storage

/// What a list has: the number of its jobs, and the lines that have none.
struct ImportJudgement: Sendable {
    private(set) var jobs = 0
    private(set) var refused = 0
    private var problems: [JSON] = []
    private var remarks: [JSON] = []

    /// The problems and the remarks of an answer are the first ones: an answer with all of them has no bound.
    private static let most = 100

    mutating func accept(_ entry: ListEntry) {
        jobs += 1
        for remark in entry.remarks where remarks.count < Self.most {
            remarks.append(["line": .count(entry.line), "detail": .string(remark)])
        }
    }

    mutating func refuse(_ entry: ListEntry, _ problem: Problem) {
        refused += 1
        guard problems.count < Self.most else { return }
        var document: JSONObject = ["line": .count(entry.line), "detail": .string(problem.detail)]
        if let pointer = problem.pointer { document["pointer"] = .string(pointer) }
        problems.append(.object(document))
    }

    /// - Throws: 422 if nothing is imported.
    func requireJobs(keepsGoing: Bool) throws(Problem) {
        guard refused > 0 || jobs == 0 else { return }
        guard !keepsGoing || jobs == 0 else { return }
        var problem = Problem(
            .invalidValue,
            refused == 0
                ? "The list has no jobs."
                : "\(refused) of \(refused + jobs) lines cannot be imported, so nothing was. Correct them, or add ?keep_going=true."
        )
        problem.members["refused"] = .count(refused)
        problem.members["problems"] = .array(problems)
        throw problem
    }

    /// - Parameter existing: the jobs that an interrupted import of the list had created.
    func answer(existing: Int, _ status: ImportStatus) -> IdempotentResponse {
        var document: JSONObject = [
            "created": .count(status.created - existing), "existing": .count(existing),
            "batch": .optional(status.batches.first?.number),
        ]
        if status.batches.count > 1 {
            document["batches"] = .array(
                status.batches.map { ["session": .string($0.session.text), "batch": .count($0.number)] })
        }
        if refused > 0 {
            document["refused"] = .count(refused)
            document["problems"] = .array(problems)
        }
        if !remarks.isEmpty { document["remarks"] = .array(remarks) }
        return IdempotentResponse(location: nil, body: JSON.object(document).bytes)
    }
}
