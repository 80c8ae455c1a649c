import Downloads
import Foundation
import HTTPTypes
import Hashing
import Storage

/// `Idempotency-Key` on requests that create jobs (draft-ietf-httpapi-idempotency-key-header).
extension RequestContext {
    /// The claim of the request; nil without the field.
    ///
    /// - Throws: 400 for an invalid key.
    func idempotencyClaim() throws(Problem) -> IdempotencyClaim? {
        guard let key = head.headers[.idempotencyKey] else { return nil }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Problem(.malformedRequest, "Idempotency-Key takes 1 to 255 characters of printable ASCII.")
        }
        return IdempotencyClaim(
            caller: caller.identity, route: "\(head.method.rawValue) \(head.path)", key: key,
            fingerprint: Data(HashFunction.sha256.hash(request.body)))
    }
}

extension HTTPField.Name {
    fileprivate static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
