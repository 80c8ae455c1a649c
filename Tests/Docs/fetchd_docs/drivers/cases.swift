// Asks WebhookSignature about each request on standard input.

import Foundation
import WebhookSignature

struct Case: Decodable {
    var secret, id, timestamp, signatures: String
    var body: Data
    var now: TimeInterval
}

while let line = readLine() {
    let given = try JSONDecoder().decode(Case.self, from: Data(line.utf8))
    let signature = WebhookSignature(id: given.id, timestamp: given.timestamp, signatures: given.signatures)
    print(signature.isGenuine(for: given.body, secret: given.secret, at: Date(timeIntervalSince1970: given.now)))
}
