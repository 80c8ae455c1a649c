import Downloads
import HTTPServer
import Storage

/// The delivery log: lists deliveries with the responses of the endpoints, and sends a delivery again.
struct DeliveryRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [
            Route(
                .get, "/v1/sessions/{session}/webhooks/{webhook}/deliveries", .scope(.read, of: .session),
                readsQuery: true, isLarge: true, list),
            Route(.get, "/v1/deliveries/{id}", .scope(.read, of: .delivery), show),
            Route(
                .post, "/v1/deliveries/{id}/redeliver", .scope(.sessions, of: .delivery),
                body: .optional(limit: JSONBody.limit), redeliver),
        ]
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let (state, limit, before) = try context.query { query throws(Problem) in
            (
                try query.choice("state", of: Delivery.State.Name.self), try query.limit(),
                try query.value("cursor").map(Self.position)
            )
        }
        let webhook = try await store.webhook(try context.name("webhook"), of: try context.name("session"))
        let page = try await store.deliveries(of: webhook, state: state, limit: limit, before: before)
        var list = DocumentList("deliveries")
        var next = page.next
        for (index, delivery) in page.deliveries.enumerated() where !list.add(delivery.document) {
            next = page.deliveries[index - 1].event
            break
        }
        return list.response(["next_cursor": .optional(next.map { Cursor.text(String($0)) })])
    }

    private static func position(_ cursor: String) throws(Problem) -> EventID {
        guard let event = EventID(try Cursor.position(cursor)) else { throw Cursor.unknown }
        return event
    }

    private func show(_ context: RequestContext) async throws -> Response {
        .json(try await store.delivery(Self.id(context)).document)
    }

    private func redeliver(_ context: RequestContext) async throws -> Response {
        try context.requireNoOptions()
        return .json(try await store.redeliver(Self.id(context)).document)
    }

    private static func id(_ context: RequestContext) -> DeliveryID { DeliveryID(context.parameter("id")) }
}
