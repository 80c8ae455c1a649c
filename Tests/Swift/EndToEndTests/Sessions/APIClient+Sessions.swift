import Formats
import TestKit

/// Requests about sessions that tests share, from the declaration to the acknowledgement.
extension APIClient {
    /// Creates jobs in one request and returns their identifiers in the order of the request.
    @discardableResult
    func submit(all jobs: [JSON]) async throws -> [String] {
        let answer = try await post("/v1/jobs/batch", ["jobs": .array(jobs)])
        guard answer.status == 201 else { throw Overdue("POST of \(jobs.count) jobs answered \(answer)") }
        return (answer.json["jobs"].arrayValue ?? []).compactMap { $0["id"].string }
    }

    /// Pauses, resumes or cancels all jobs of a session, and returns the session from the response.
    @discardableResult
    func perform(_ action: String, onAllOf session: String) async throws -> JSON {
        let answer = try await post("/v1/sessions/\(session)/\(action)")
        guard answer.status == 200 else { throw Overdue("The session \(session) refused to \(action): \(answer)") }
        return answer.json
    }

    /// Acknowledges all events of a session through the given one, and returns the session from the response.
    @discardableResult
    func acknowledge(_ session: String, through event: Int64?) async throws -> JSON {
        let answer = try await post("/v1/sessions/\(session)/acknowledge", ["through": .optional(event)])
        guard answer.status == 200 else { throw Overdue("Acknowledging \(session) was refused: \(answer)") }
        return answer.json
    }

    /// The events of a session after the given event, read page by page to the end.
    func journal(
        of session: String, after start: Int64 = 0, type: String? = nil, pagesOf limit: Int = 1000
    ) async throws -> [JSON] {
        var (events, after): ([JSON], Int64) = ([], start)
        let filter = "session=\(session)" + (type.map { "&type=\($0)" } ?? "")
        while true {
            let answer = try await get("/v1/events?after=\(after)&limit=\(limit)&\(filter)")
            guard answer.status == 200, let page = answer.json["events"].arrayValue,
                let next = answer.json["next_after"].integer
            else { throw Overdue("Reading the journal of \(session) was answered \(answer)") }
            events += page
            if page.isEmpty { return events }
            after = next
        }
    }

    /// Every `session.finished` event of a session, in order.
    func finishes(of session: String) async throws -> [JSON] {
        try await journal(of: session, type: "session.finished")
    }

    /// The number of a session's jobs by state, without zeros.
    func counts(of session: String) async throws -> [String: Int64] {
        try await self.session(session).counts
    }
}

// MARK: - Waiting

extension APIClient {
    /// Waits until a session satisfies the condition, and returns it.
    @discardableResult
    func waitForSession(_ name: String, toBe what: String, _ isWanted: (JSON) -> Bool) async throws -> JSON {
        var last = JSON.null
        do {
            return try await eventually("session \(name) to be \(what)") {
                last = try await session(name)
                return isWanted(last) ? last : JSON?.none
            }
        } catch let overdue as Overdue {
            throw Overdue("\(overdue) At last it was \(last.written)")
        }
    }

    /// Waits for a batch's `session.finished`.
    @discardableResult
    func waitForFinish(of session: String, batch: Int64 = 1) async throws -> JSON {
        try await eventually("batch \(batch) of session \(session) to finish") {
            try await finishes(of: session).first { $0["data"]["batch"].integer == batch }
        }
    }

    /// Waits until a deleted session is settled and answers 404.
    func waitForEnd(of session: String) async throws {
        _ = try await eventually("session \(session) to be gone") {
            try await get("/v1/sessions/\(session)").status == 404 ? true : nil
        }
    }
}

extension JSON {
    /// A session's counts, without the zeros.
    var counts: [String: Int64] {
        (self["counts"].objectValue?.members ?? []).reduce(into: [:]) { counts, member in
            if let count = member.value.integer, count > 0 { counts[member.name] = count }
        }
    }

    /// The types of a list of events.
    static func types(of events: [JSON]) -> [String] { events.compactMap { $0["type"].string } }
}
