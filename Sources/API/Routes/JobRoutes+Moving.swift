import Downloads
import HTTPServer
import Storage

/// `POST /v1/jobs/{id}/move`: another place in the queue.
extension JobRoutes {
    func move(_ context: RequestContext) async throws -> Response {
        let move = try context.body { reader throws(Problem) in try QueueMove(reading: &reader) }
        let revision = try context.expectedRevision()
        let place =
            switch move {
            case .place(let place): place
            case .position(let index): try await store.place(at: index, for: try await store.job(context.job))
            }
        return shown(try await store.moveJob(context.job, to: place, expecting: revision))
    }
}
