/// Stored documents outlive the version that wrote them. A member that the old version did not know has its
/// default.
extension KeyedDecodingContainer {
    func decode<Value: Decodable>(_ key: Key, default value: @autoclosure () -> Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? value()
    }
}
