import HTTPServer

/// A response, or one that was rendered before.
enum Reply: Sendable {
    case response(Response)
    case prepared(PreparedResponse)
}

extension PendingResponse {
    func settle(with reply: Reply) {
        switch reply {
        case .response(let response): settle(with: response)
        case .prepared(let prepared): settle(with: prepared)
        }
    }
}
