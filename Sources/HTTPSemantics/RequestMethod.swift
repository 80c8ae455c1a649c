/// The method of a request. A GET requests a file that can be resumed. The other methods send a body, and the server
/// decides what to return.
public enum RequestMethod: String, Sendable, Codable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
}
