/// The requests that several commands need.
extension RemoteService {
    func job(_ id: String) async throws(ClientError) -> Answer {
        try await send("GET", RequestPath("jobs", id))
    }

    func stats() async throws(ClientError) -> Answer {
        try await send("GET", RequestPath("stats"))
    }

    /// Reads a list, page by page, to its end or to the limit.
    ///
    /// - Parameters:
    ///   - member: the name of the list in its document.
    ///   - limit: the maximum number of elements; nil reads all.
    func list(_ member: String, at path: RequestPath, limit: Int? = nil) async throws(ClientError) -> GatheredList {
        var list = GatheredList(member: member)
        var cursor: String?
        repeat {
            let room = limit.map { min(1000, $0 - list.elements.count) } ?? 1000
            let answer = try await send("GET", path.asking("limit", Int64(room)).asking("cursor", cursor))
            cursor = try answer.document(PageEnd.self).nextCursor
            list.elements += JSONText(answer.body)[member]?.elements ?? []
            list.nextCursor = cursor
        } while cursor != nil && list.elements.count < limit ?? .max
        return list
    }

    private struct PageEnd: Decodable {
        var nextCursor: String?
    }

    /// The unfinished jobs, oldest first.
    func outstandingJobs(of session: String?) async throws(ClientError) -> [JobDocument] {
        var jobs: [JobDocument] = []
        for state in ["queued", "running", "waiting", "paused"] {
            let path = RequestPath("jobs").asking("session", session).asking("state", state)
            jobs += try await list("jobs", at: path).decoded(JobDocument.self)
        }
        // A job that changes its state between two requests is in both answers. The later one is right.
        let latest = Dictionary(jobs.map { ($0.id, $0) }) { $1 }
        return latest.values.sorted { $0.id < $1.id }
    }

    /// The number of the last event of the journal that the client may see.
    func lastEvent() async throws(ClientError) -> Int64 {
        do {
            return try await stats().document(StatsDocument.self).lastEvent
        } catch  where error.problem?.type == "/problems/forbidden" {
            // A token that is bound to sessions cannot read the statistics of the service.
            let sessions = try await send("GET", RequestPath("sessions")).document(SessionListDocument.self).sessions
            return sessions.map(\.lastEvent).max() ?? 0
        }
    }

    /// - Throws: if the session does not exist. nil stands for all sessions.
    func requireSession(_ name: String?) async throws(ClientError) {
        if let name { _ = try await send("GET", RequestPath("sessions", name)) }
    }

    /// The identifier of a token that the user gives by its identifier or by its name.
    func tokenID(_ token: String) async throws(ClientError) -> String {
        guard !token.hasPrefix("tok_") else { return token }
        let tokens = try await send("GET", RequestPath("tokens")).document(TokenListDocument.self).tokens
        let ids = tokens.filter { $0.name == token }.map(\.id)
        guard let id = ids.first else {
            throw ClientError(
                .missing, "There is no such token",
                "No token has the identifier or the name \(Printable(token)). To see them: fetchd token list")
        }
        guard ids.count == 1 else {
            throw ClientError(
                .misused, "Several tokens have this name",
                "\(ids.count) tokens have the name \(token): \(ids.joined(separator: ", ")). Give the identifier.")
        }
        return id
    }

    func sessions() async throws(ClientError) -> [SessionDocument] {
        try await send("GET", RequestPath("sessions")).document(SessionListDocument.self).sessions
    }
}
