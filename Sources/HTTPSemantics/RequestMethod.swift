/// What is asked for: with GET, a file that can be resumed; with the others, whatever the server makes of the body.
public enum RequestMethod: String, Sendable, Codable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
}
