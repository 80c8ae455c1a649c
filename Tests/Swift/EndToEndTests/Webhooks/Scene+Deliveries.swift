import Downloads
import Formats
import TestKit
import Webhooks

extension Scene {
    /// A scene whose finishes have no delay and whose deliveries are retried after the given seconds.
    static func delivering(after delays: [Double] = [0, 0.05, 0.05, 0.05, 0.05]) async throws -> Scene {
        let scene =
            if RealProcess.isWanted {
                try await Scene(
                    process: .init(
                        arguments: ["--webhook-retry-delays", delays.map { "\($0)" }.joined(separator: ",")]))
            } else {
                try await Scene(.init { $0.webhooks.schedule = RetrySchedule(delays: delays) })
            }
        try await scene.api.declareSession("default", ["finish_delay_seconds": 0])
        return scene
    }

    /// A schedule whose retry comes after the end of any test.
    static let parking: [Double] = [0, 3600]
}

extension APIClient {
    /// The log of a webhook of `default`, newest event first.
    func deliveries(to webhook: String = "receiver", matching query: String = "limit=1000") async throws -> [JSON] {
        let answer = try await get("/v1/sessions/default/webhooks/\(webhook)/deliveries?\(query)")
        guard answer.status == 200, let deliveries = answer.json["deliveries"].arrayValue else {
            throw Overdue("the deliveries to \(webhook): \(answer)")
        }
        return deliveries
    }

    func delivery(_ id: String?) async throws -> APIAnswer { try await get("/v1/deliveries/\(id ?? "none")") }

    func redeliver(_ delivery: JSON) async throws -> APIAnswer {
        try await post("/v1/deliveries/\(delivery["id"].string ?? "none")/redeliver")
    }

    /// One of the actions on a webhook of `default`: `test`, `rotate-secret`, `recover`, `enable`.
    func act(_ action: String, on webhook: String = "receiver", _ body: JSON? = nil) async throws -> APIAnswer {
        try await post("/v1/sessions/default/webhooks/\(webhook)/\(action)", body)
    }

    /// Waits until the newest delivery of an event type satisfies the condition, and returns it.
    @discardableResult
    func waitForDelivery(
        of type: String, to webhook: String = "receiver", toBe what: String, _ isWanted: (JSON) -> Bool
    ) async throws -> JSON {
        try await eventually("the delivery of \(type) to \(webhook) to be \(what)") {
            let delivery = try await deliveries(to: webhook).first { $0["type"] == .string(type) }
            return delivery.flatMap { isWanted($0) ? $0 : JSON?.none }
        }
    }

    @discardableResult
    func waitForDelivery(
        of type: String, to webhook: String = "receiver", toBe state: Delivery.State.Kind
    ) async throws -> JSON {
        try await waitForDelivery(of: type, to: webhook, toBe: state.rawValue) {
            $0["state"] == .string(state.rawValue)
        }
    }

    /// Waits until no delivery to the webhook is pending, and returns its log.
    @discardableResult
    func waitForSettledDeliveries(to webhook: String = "receiver") async throws -> [JSON] {
        try await eventually("everything to \(webhook) to be settled") {
            let deliveries = try await deliveries(to: webhook)
            return deliveries.contains { $0["state"] == "pending" } ? nil : deliveries
        }
    }
}
