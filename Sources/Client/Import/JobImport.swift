import Formats

/// Creates imported jobs, each once. A job that the service refuses does not hinder the others.
struct JobImport: Sendable {
    let service: RemoteService

    // The limits of one request. The service takes more.
    private static let jobsInARequest = 500
    private static let bytesInARequest = 8 << 20

    func run(_ jobs: [ImportedJob], into summary: inout ImportSummary) async throws {
        let present = try await service.list("jobs", at: RequestPath("jobs")).elements
        // The origins of all jobs that the service has imported before.
        var seen = Set(present.compactMap { $0["metadata"]?[ImportedJob.mark]?.stringValue })
        var new: [ImportedJob] = []
        for job in jobs {
            if seen.insert(job.origin).inserted { new.append(job) } else { summary.present += 1 }
        }
        var request: [ImportedJob] = []
        var bytes = 0
        for job in new {
            let size = job.marked.bytes.count
            if request.count == Self.jobsInARequest || (bytes + size > Self.bytesInARequest && !request.isEmpty) {
                try await add(request, into: &summary)
                request = []
                bytes = 0
            }
            request.append(job)
            bytes += size
        }
        try await add(request, into: &summary)
    }

    private func add(_ jobs: [ImportedJob], into summary: inout ImportSummary) async throws {
        var jobs = jobs
        let ids = try await create(&jobs, &summary)
        for (job, id) in zip(jobs, ids) { try await complete(job, id, into: &summary) }
    }

    /// Creates all of the jobs, or all but those that the service names as faulty, which it removes.
    private func create(_ jobs: inout [ImportedJob], _ summary: inout ImportSummary) async throws -> [String] {
        while !jobs.isEmpty {
            do throws(ClientError) {
                // A lost answer needs no key here: a repeated import finds the jobs by their origin.
                let body: JSON = ["jobs": .array(jobs.map(\.marked))]
                let response = try await service.send("POST", RequestPath("jobs", "batch"), body)
                return response.text["jobs"]?.elements.compactMap { $0["id"]?.stringValue } ?? []
            } catch {
                guard let index = error.indexOfJob, jobs.indices.contains(index) else { throw error }
                summary.fail(jobs[index].place, error.sentence.replacing("jobs.\(index).", with: ""))
                jobs.remove(at: index)
            }
        }
        return []
    }

    private func complete(_ job: ImportedJob, _ id: String, into summary: inout ImportSummary) async throws {
        summary.added.append(id)
        if !job.missing.isEmpty {
            summary.remark(
                job.place, "The file does not have its secrets: \(job.missing.joined(separator: ", ")). See \(id).")
        }
        guard job.isPaused else { return }
        do throws(ClientError) {
            _ = try await service.send("POST", RequestPath("jobs", id, "pause"))
        } catch {
            // The service refuses to pause a job that has ended already.
            guard error.status == .conflicting else { throw error }
            summary.remark(job.place, "It could not be paused. \(error.sentence)")
        }
    }
}

extension ClientError {
    /// The index of the job that a problem of a batch names; nil if it names none.
    var indexOfJob: Int? {
        let parts = problem?.pointer?.split(separator: "/") ?? []
        return parts.count > 1 && parts[0] == "jobs" ? Int(parts[1]) : nil
    }
}

/// Why a line or an entry of a file cannot be imported: a sentence.
struct ImportFault: Error, Equatable { var reason: String }

/// A job of a file that `fetchd import` reads.
struct ImportedJob: Sendable {
    /// Names the job in its file, for the messages: `line 12`.
    var place: String
    /// Identifies the job in every import of its file. The new job keeps it as `metadata.imported_from`.
    var origin: String
    var body: JSONObject
    var isPaused = false
    /// The secrets that the file does not have, such as `credentials`.
    var missing: [String] = []

    /// The request with the origin in its metadata.
    var marked: JSON {
        var body = body
        var metadata = body["metadata"]?.objectValue ?? JSONObject()
        metadata[Self.mark] = .string(origin)
        body["metadata"] = .object(metadata)
        return .object(body)
    }

    /// The member of `metadata`.
    static let mark = "imported_from"
}

struct ImportSummary: Sendable {
    var added: [String] = []
    /// The number of jobs, sessions and webhooks that the service has already.
    var present = 0
    var sessions = 0
    var webhooks = 0
    /// What was not imported, and why.
    var failures: [Remark] = []
    /// What was imported with a difference.
    var remarks: [Remark] = []

    struct Remark: Sendable, Equatable {
        /// `line 12`
        var place: String
        var text: String

        var json: JSON { ["place": .string(place), "text": .string(text)] }
    }

    // The texts can have what a file or the service says.
    mutating func fail(_ place: String, _ text: String) { failures.append(Remark(place: place, text: text.printable)) }
    mutating func remark(_ place: String, _ text: String) { remarks.append(Remark(place: place, text: text.printable)) }

    var document: JSON {
        [
            "added": .strings(added), "present": .count(present), "sessions": .count(sessions),
            "webhooks": .count(webhooks), "failures": .array(failures.map(\.json)),
            "remarks": .array(remarks.map(\.json)),
        ]
    }

    /// - Parameter isDryRun: whether nothing was sent to the service.
    func sentence(isDryRun: Bool) -> String {
        let verb = isDryRun ? "would be added" : "added"
        var parts = ["\(DisplayFormat.count(added.count, "job")) \(verb)"]
        if sessions > 0 { parts.append("\(DisplayFormat.count(sessions, "session")) declared") }
        if webhooks > 0 { parts.append("\(DisplayFormat.count(webhooks, "webhook")) declared") }
        if present > 0 { parts.append("\(present) already there") }
        if !failures.isEmpty { parts.append("\(failures.count) not imported") }
        return parts.joined(separator: ", ") + "."
    }
}

extension Console {
    /// Prints the result of an import: what was not imported first, on standard error.
    func print(_ summary: ImportSummary, isDryRun: Bool) throws(ClientError) {
        if isJSON { return try print(summary.document) }
        for failure in summary.failures { say("Not imported: \(failure.place): \(failure.text)") }
        for remark in summary.remarks { say("\(remark.place): \(remark.text)") }
        try print(summary.sentence(isDryRun: isDryRun))
    }
}

extension String {
    fileprivate var printable: String { Printable(self).description }
}
