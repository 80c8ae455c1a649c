/// A list of the API with the elements of all its pages.
struct GatheredList: Sendable {
    let member: String
    var elements: [JSONText] = []
    var nextCursor: String?

    func decoded<Element: Decodable>(_ type: Element.Type) throws(ClientError) -> [Element] {
        do {
            return try elements.map { try $0.decoded(type) }
        } catch {
            throw ClientError(
                .strange, "The answer cannot be understood",
                "The list of \(member) has an element that cannot be decoded: \(error).")
        }
    }

    var text: JSONText {
        .object([(member, .array(elements)), ("next_cursor", nextCursor.map { .string($0) } ?? .null)])
    }
}
