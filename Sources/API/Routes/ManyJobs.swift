import Downloads
import Engine
import Formats
import Foundation
import HTTPServer
import Operations
import Storage

/// `POST /v1/jobs/{action}`: actions on many jobs, which `JobSelection` names.
enum ManyJobsAction: String, CaseIterable {
    case pause, resume, cancel, retry, change, move, remove
}

extension JobRoutes {
    enum FileChoice: String, CaseIterable { case keep, delete }

    func manyJobsRoute(_ action: ManyJobsAction) -> Route {
        Route(.post, "/v1/jobs/\(action.rawValue)", .scope(.jobs, of: .selection), body: .json) {
            try await act(action, $0)
        }
    }

    private func act(_ action: ManyJobsAction, _ context: RequestContext) async throws -> Response {
        let (selected, act, details) = try context.body { reader throws(Problem) in
            // A member that is missing is reported after all members are known.
            for name in SelectedJobs.members { _ = reader.value(name) }
            let (act, details) = try action.read(&reader, rules)
            return (try SelectedJobs(reading: &reader), act, details)
        }
        let answer = try await underWay.answer(to: try context.idempotencyClaim(), from: jobs) { claim in
            let record = ActionRecord(
                context.auditNote, of: ([selected.description] + details).joined(separator: ", "))
            return try await jobs.perform(
                act, on: selected.selection, visible: context.caller.visible, record, once: claim
            ) { IdempotentResponse(location: nil, body: $0.document.bytes) }
        }
        return .json(answer)
    }
}

extension ManyJobsAction {
    /// - Returns: the action, and its members as the audit log has them.
    fileprivate func read(
        _ reader: inout FieldReader, _ rules: NewJobRules
    ) throws(Problem) -> (ActionOnMany, [String]) {
        switch self {
        case .pause: return (.signal(.pauseRequested), [])
        case .resume: return (.signal(.resumeRequested), [])
        case .retry: return (.signal(.retryRequested), [])
        case .cancel:
            let keepsPart = try reader.bool("produce_resume_data") ?? false
            return (.signal(.cancelRequested(keepsPart: keepsPart)), keepsPart ? ["with resume data"] : [])
        case .move: return (.move(try QueueTarget(reading: &reader)), [])
        case .remove:
            let deletesFiles = try reader.choice("file", of: JobRoutes.FileChoice.self) == .delete
            return (.remove(deletesFiles: deletesFiles), deletesFiles ? ["with their files"] : [])
        case .change:
            guard
                let patch = try reader.object(
                    "patch", { (reader) throws(Problem) in try reader.patchOfMany(rules) })
            else { throw reader.missing("patch", "the members that change, with their values") }
            let names = patch.fields.map(\.rawValue).sorted().joined(separator: ", ")
            return (.change(patch.fields, by: patch.result), ["changes of " + names])
        }
    }
}

extension FieldReader {
    /// A patch of many jobs: what only one job can have is not changed.
    fileprivate mutating func patchOfMany(_ rules: NewJobRules) throws(Problem) -> JobPatch {
        for field in [PatchableField.url, .headers, .credentials, .destination] where object[field.rawValue] != nil {
            throw invalid(field.rawValue, "cannot be changed for many jobs; change each job with PATCH")
        }
        let patch = try JobPatch(reading: &self)
        try finish()
        guard !patch.fields.isEmpty else { throw Problem(.invalidValue, "`patch` has no member.", at: pointer) }
        let changed: JobSpec
        do throws(Problem) { changed = try patch.applied(to: JobSpec(url: "")) } catch {
            var problem = error
            problem.pointer = pointer + (problem.pointer ?? "")
            throw problem
        }
        try rules.requireFuture(changed.deadline, self)
        return patch
    }
}

extension JobPatch {
    /// Refuses a job whose result would not be valid, such as too much metadata.
    @Sendable fileprivate func result(_ spec: JobSpec) -> Result<JobSpec, any Error> {
        do throws(Problem) { return .success(try applied(to: spec)) } catch { return .failure(error) }
    }
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
    static let members = ["ids", "filter", "all"]

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
