import Downloads
import Storage

/// Hides what callers that are bound to sessions may not see: it gets the same 404 as what does not exist.
///
/// A job and a delivery never change their session. So what was visible when the request began stays visible.
struct Visibility: Sendable {
    let store: Store

    /// Checks what the path of the request names.
    func check(_ subject: Access.Subject, _ context: RequestContext) async throws {
        let visible = context.caller.visible
        guard visible != .all else { return }
        switch subject {
        case .service, .selection: break
        case .session:
            let session = try context.name("session")
            // An unknown session is created, so its absence is no answer to this request.
            if context.creates { return try context.caller.requireWritable(session) }
            guard visible.contain(session) else { throw StoreError.noSuchSession(session) }
        case .job:
            guard visible.contain(try await store.job(context.job).session) else {
                throw StoreError.noSuchJob(context.job)
            }
        case .delivery:
            let id = DeliveryID(context.parameter("id"))
            guard visible.contain(try await store.delivery(id).session) else { throw StoreError.noSuchDelivery(id) }
        }
    }
}

extension RequestContext {
    /// Whether the request creates the session that its path names, unless it exists.
    fileprivate var creates: Bool { head.method == .put && match.route.pattern.count == 3 }
}
