/// Where the end of a request's body is.
enum Framing {
    case none
    case length(Int)
    case chunked

    var hasBody: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}
