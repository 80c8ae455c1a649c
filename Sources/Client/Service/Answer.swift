import CurlClient

/// What the service answered: known to be a success, and to be its own.
struct Answer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Of the body, which is then known to be JSON of this shape.
    func document<Document: Decodable>(_ type: Document.Type) throws(ClientError) -> Document {
        guard let document = try? JSONText(body).decoded(type) else {
            throw ClientError(
                .strange, "The answer cannot be understood",
                "The service answers otherwise than this version of fetchd expects. Use the service's own version: compare 'fetchd --version' with /openapi.yaml there."
            )
        }
        return document
    }
}
