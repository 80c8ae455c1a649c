import CurlClient

/// A successful response that is known to come from fetchd.
struct Answer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Decodes the body.
    func document<Document: Decodable>(_ type: Document.Type) throws(ClientError) -> Document {
        guard let document = try? JSONText(body).decoded(type) else {
            throw ClientError(
                .strange, "The answer cannot be understood",
                "This version of fetchd does not understand the answer of the service. Use the service's version: compare 'fetchd --version' with /openapi.yaml of the service."
            )
        }
        return document
    }
}
