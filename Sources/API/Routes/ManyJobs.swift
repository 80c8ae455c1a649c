import Downloads
import Formats
import Foundation
import HTTPServer
import Operations
import Storage

/// `POST /v1/jobs/{action}`: actions on many jobs, which `JobSelection` names.
extension JobRoutes {
    func remove(_ context: RequestContext) async throws -> Response {
        let (selected, deletesFiles) = try context.body { reader throws(Problem) in
            let file = try reader.choice("file", of: FileChoice.self)
            return (try SelectedJobs(reading: &reader), file == .delete)
        }
        let answer = try await underWay.answer(to: try context.idempotencyClaim(), from: jobs) { claim in
            let record = ActionRecord(
                context.auditNote, of: selected.description + (deletesFiles ? ", with their files" : ""))
            return try await jobs.delete(
                selected.selection, visible: context.caller.visible, deletesFiles: deletesFiles, record, once: claim
            ) { IdempotentResponse(location: nil, body: $0.document.bytes) }
        }
        return .json(answer)
    }

    enum FileChoice: String, CaseIterable { case keep, delete }
}

extension ActionRecord {
    fileprivate var document: JSON {
        [
            "matched": .count(counts.matched), "changed": .count(counts.changed), "refused": .count(counts.refused),
            "problems": .array(
                refusals.map { ["id": .string($0.job.text), "code": .string(Problem($0.error).kind.rawValue)] }),
        ]
    }
}

/// The members of a request that select jobs: `ids`, `filter` or `all`.
struct SelectedJobs: Sendable {
    let selection: JobSelection
    let description: String

    init(reading reader: inout FieldReader) throws(Problem) {
        let ways: [(name: String, value: SelectedJobs)?] = [
            try reader.jobIDs("ids").map { ("ids", $0) },
            try reader.object("filter", Self.filter).map { ("filter", $0) },
            try reader.allJobs("all").map { ("all", $0) },
        ]
        guard let way = try reader.only(ways, "send one of them") else {
            throw reader.missing("ids", "identifiers of jobs; or send filter, or \"all\": true, instead")
        }
        self = way.value
    }

    fileprivate init(_ selection: JobSelection, _ description: String) {
        self.selection = selection
        self.description = description
    }

    private static func filter(_ reader: inout FieldReader) throws(Problem) -> SelectedJobs {
        let given = reader.object.members.filter { $0.value != .null }
        let filter = JobFilter(
            session: try reader.string("session", "cannot be a session's name") { Name($0) },
            state: try reader.choice("state", of: JobState.Kind.self),
            tag: try reader.string("tag"),
            text: try reader.string("q") {
                (1...1024).contains($0.unicodeScalars.count) ? nil : "must have 1 to 1024 characters"
            },
            endedBefore: try reader.time("ended_before"))
        try reader.finish()
        guard !given.isEmpty else {
            throw Problem(
                .invalidValue, "`filter` has no condition. To select all jobs, send \"all\": true instead.",
                at: reader.pointer)
        }
        return SelectedJobs(
            .matching(filter), given.map { "\($0.name) \($0.value.stringValue ?? "")" }.joined(separator: ", "))
    }
}

extension FieldReader {
    fileprivate mutating func jobIDs(_ name: String) throws(Problem) -> SelectedJobs? {
        guard let texts = try strings(name) else { return nil }
        guard (1...Self.mostJobs).contains(texts.count) else {
            throw invalid(name, "must be an array of 1 to \(Self.mostJobs) identifiers")
        }
        var known: Set<String> = []
        let ids = texts.filter { known.insert($0).inserted }.map { JobID($0) }
        return SelectedJobs(.jobs(ids), "\(ids.count) identifiers")
    }

    private static let mostJobs = 10_000

    fileprivate mutating func allJobs(_ name: String) throws(Problem) -> SelectedJobs? {
        guard let all = try bool(name) else { return nil }
        guard all else { throw invalid(name, "must be true; to select some jobs, send ids or filter instead") }
        return SelectedJobs(.matching(JobFilter()), "all")
    }
}
