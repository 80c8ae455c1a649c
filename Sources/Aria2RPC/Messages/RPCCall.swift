import Formats

/// One call of a method, as JSON-RPC 2.0 carries it.
struct RPCCall: Sendable {
    let id: JSON
    let method: String
    let parameters: [JSON]

    /// - Throws: with the identifier of the call, as far as it has one.
    init(_ value: JSON) throws(Rejection) {
        guard let object = value.objectValue, let id = object["id"] else {
            throw Rejection(id: .null, error: .invalidRequest)
        }
        guard let method = object["method"]?.stringValue else { throw Rejection(id: id, error: .invalidRequest) }
        switch object["params"] {
        case nil: parameters = []
        case .array(let values)?: parameters = values
        case _?: throw Rejection(id: id, error: .invalidParams)
        }
        (self.id, self.method) = (id, method)
    }

    struct Rejection: Error {
        let id: JSON
        let error: RPCError
    }
}
