import Formats

/// Creates imported jobs, each once. A job that the service refuses does not hinder the others.
struct JobImport: Sendable {
    let service: RemoteService

    /// The limits of one request. The service takes more.
    private static let (jobsInARequest, bytesInARequest) = (500, 8 << 20)

    /// The origins of all jobs that the service has imported before.
    func present() async throws -> Set<String> {
        let jobs = try await service.list("jobs", at: RequestPath("jobs"))
        return Set(jobs.elements.compactMap { $0["metadata"]?[ImportedJob.mark]?.string })
    }

    func run(_ jobs: [ImportedJob], into summary: inout ImportSummary) async throws {
        let present = try await present()
        var seen = present
        var new: [ImportedJob] = []
        for job in jobs {
            if seen.insert(job.origin).inserted { new.append(job) } else { summary.present += 1 }
        }
        var (request, bytes): ([ImportedJob], Int) = ([], 0)
        for job in new {
            let size = job.marked.bytes.count
            if request.count == Self.jobsInARequest || (bytes + size > Self.bytesInARequest && !request.isEmpty) {
                try await add(request, into: &summary)
                (request, bytes) = ([], 0)
            }
            request.append(job)
            bytes += size
        }
        try await add(request, into: &summary)
    }

    /// All of the jobs, or all but those that the service names as faulty.
    private func add(_ jobs: [ImportedJob], into summary: inout ImportSummary) async throws {
        var jobs = jobs
        while !jobs.isEmpty {
            switch try await create(jobs) {
            case .created(let ids):
                for (job, id) in zip(jobs, ids) { try await settle(job, id, into: &summary) }
                return
            case .faulty(let index, let why):
                summary.fail(jobs[index].place, why)
                jobs.remove(at: index)
            }
        }
    }

    private enum Batch {
        case created([String])
        /// None was created, because of one job.
        case faulty(Int, why: String)
    }

    private func create(_ jobs: [ImportedJob]) async throws -> Batch {
        let body = JSONText(["jobs": .array(jobs.map(\.marked))] as JSON)
        do {
            // A lost answer needs no key here: a repeated import finds the jobs by their origin.
            let answer = try await service.send("POST", RequestPath("jobs", "batch"), body.bytes)
            return .created(JSONText(answer.body)["jobs"]?.elements.compactMap { $0["id"]?.string } ?? [])
        } catch {
            guard let index = error.indexOfJob, jobs.indices.contains(index) else { throw error }
            return .faulty(index, why: error.sentence.replacing("jobs.\(index).", with: ""))
        }
    }

    private func settle(_ job: ImportedJob, _ id: String, into summary: inout ImportSummary) async throws {
        summary.added.append(id)
        if !job.missing.isEmpty {
            summary.remark(
                job.place, "The file does not have its secrets: \(job.missing.joined(separator: ", ")). See \(id).")
        }
        guard job.isPaused else { return }
        if let refusal = try await pause(id) {
            summary.remark(job.place, "It could not be paused. \(refusal.sentence)")
        }
    }

    /// - Returns: the refusal of the service if the job has ended already.
    private func pause(_ id: String) async throws -> ClientError? {
        do {
            _ = try await service.send("POST", RequestPath("jobs", id, "pause"))
            return nil
        } catch {
            guard error.status == .conflicting else { throw error }
            return error
        }
    }
}

extension JSONText {
    /// The text of a string; nil if this is no string.
    var string: String? { (try? JSON(parsing: bytes))?.stringValue }
}

extension ClientError {
    /// The index of the job that a problem of a batch names; nil if it names none.
    var indexOfJob: Int? {
        let parts = problem?.pointer?.split(separator: "/") ?? []
        return parts.count > 1 && parts[0] == "jobs" ? Int(parts[1]) : nil
    }
}
