import Formats
import Foundation

extension RemoteService {
    func job(_ id: String) async throws(ClientError) -> Response {
        try await send("GET", RequestPath("jobs", id))
    }

    func sessions() async throws(ClientError) -> [SessionDocument] {
        try await send("GET", RequestPath("sessions")).list("sessions", of: SessionDocument.self)
    }

    /// - Throws: if the session does not exist. nil stands for all sessions.
    func requireSession(_ name: String?) async throws(ClientError) {
        if let name { _ = try await send("GET", RequestPath("sessions", name)) }
    }

    /// Reads a list, page by page, to its end or to the limit.
    ///
    /// - Parameter member: the name of the list in its document.
    func list(_ member: String, at path: RequestPath, limit: Int? = nil) async throws(ClientError) -> GatheredList {
        try await gather(GatheredList(member: member), at: path, limit: limit) { _ throws(ClientError) in }
    }

    /// - Parameter receive: gets each page that has entries.
    func log(
        _ member: String, at path: RequestPath, after: Int64?, limit: Int?,
        _ receive: (Response) throws(ClientError) -> Void
    ) async throws(ClientError) -> GatheredList {
        let start = GatheredList(member: member, position: "after", next: .optional(after))
        var log = try await gather(start, at: path, limit: limit, receive)
        if log.next == .null { log.next = 0 }
        return log
    }

    private func gather(
        _ start: GatheredList, at path: RequestPath, limit: Int?, _ receive: (Response) throws(ClientError) -> Void
    ) async throws(ClientError) -> GatheredList {
        var list = start
        while list.elements.count < limit ?? .max {
            let room = Int64(min(1000, (limit ?? .max) - list.elements.count))
            let next = list.next == .null ? nil : list.next.stringValue ?? list.next.written
            let page = try await send("GET", path.query("limit", room).query(list.position, next))
            guard let document = page.text.parsed, case .array(let values) = document[list.member] else {
                throw .unknownForm
            }
            let elements = values.map { JSON.text($0.written) }
            list.next = document["next_\(list.position)"] ?? .null
            // Another program's answer must not be read for ever.
            guard list.next == .null || list.next.stringValue != nil || list.position == "after" else {
                throw .unknownForm
            }
            if !elements.isEmpty { try receive(page) }
            list.elements += elements
            // A log has no last page: its end is an empty one.
            if list.next == .null || (elements.isEmpty && list.position == "after") { break }
        }
        return list
    }

    /// The unfinished jobs, oldest first.
    func outstandingJobs(of session: String?) async throws(ClientError) -> [JobDocument] {
        var jobs: [JobDocument] = []
        for state in ["queued", "running", "waiting", "paused"] {
            let path = RequestPath("jobs").query("session", session).query("state", state)
            jobs += try await list("jobs", at: path).decoded(JobDocument.self)
        }
        // A job that changes its state between two requests is in both answers. The later one is right.
        let latest = Dictionary(jobs.map { ($0.id, $0) }) { $1 }
        return latest.values.sorted { $0.id < $1.id }
    }

    private struct Statistics: Decodable { var lastEvent: Int64 }

    /// The number of the last event of the journal that the client may see.
    func lastEvent() async throws(ClientError) -> Int64 {
        do {
            return try await send("GET", RequestPath("stats")).document(Statistics.self).lastEvent
        } catch  where error.problem?.type == "/problems/forbidden" {
            // A token that is bound to sessions cannot read the statistics of the service.
            return try await sessions().map(\.lastEvent).max() ?? 0
        }
    }
}

// MARK: - Repetition

extension RemoteService {
    /// Posts a request that must be carried out once. If it gets no answer, it is unknown whether it arrived, so it is
    /// repeated with the same idempotency key. If the service has never answered, the error is thrown at once.
    func postOnce(_ path: RequestPath, _ body: JSON) async throws -> Response {
        let headers = [(name: "Idempotency-Key", value: UUID().uuidString)]
        var backoff = Backoff()
        for triesLeft in (0..<Self.tries).reversed() {
            do throws(ClientError) {
                return try await send("POST", path, body, headers: headers)
            } catch {
                guard error.status == .unavailable, triesLeft > 0, await isRestarting() else { throw error }
                try await Task.sleep(for: backoff.next())
            }
        }
        preconditionFailure("the last try returns or throws")
    }

    /// Together with the waits between them, the attempts take some 20 seconds, which is longer than a restart.
    private static let tries = 8

    /// Whether the service has answered before, or does now.
    func isRestarting() async -> Bool {
        if hasAnswered { return true }
        return (try? await lastEvent()) != nil
    }
}

/// The delay before the next attempt: 0.2 s, doubled up to 5 s, with jitter, so that the clients of a restarted service do not
/// connect at the same moment.
struct Backoff: Sendable {
    private var seconds = 0.2

    mutating func next() -> Duration {
        defer { seconds = min(seconds * 2, 5) }
        return .seconds(seconds * Double.random(in: 0.5...1))
    }
}
