// Verifies one webhook request of fetchd, whose body is on standard input. The exit status is 0 if fetchd has sent it.
//
//     WEBHOOK_SECRET=whsec_... swift run verify WEBHOOK-ID WEBHOOK-TIMESTAMP WEBHOOK-SIGNATURE < body
//
// In a server, call `isGenuine` with the same three header fields, before the body is decoded.

import Foundation
import WebhookSignature

let arguments = CommandLine.arguments
guard arguments.count == 4, let secret = ProcessInfo.processInfo.environment["WEBHOOK_SECRET"] else {
    FileHandle.standardError.write(Data("WEBHOOK_SECRET=whsec_... verify ID TIMESTAMP SIGNATURE < body\n".utf8))
    exit(64)
}
let body = FileHandle.standardInput.readDataToEndOfFile()
let signature = WebhookSignature(id: arguments[1], timestamp: arguments[2], signatures: arguments[3])
guard signature.isGenuine(for: body, secret: secret) else {
    print("refused")
    exit(1)
}
struct Event: Decodable { var type: String }
print("verified", try JSONDecoder().decode(Event.self, from: body).type)
