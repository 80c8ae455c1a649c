/// How the end of a request body is determined.
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

    var isChunked: Bool {
        switch self {
        case .none, .length: false
        case .chunked: true
        }
    }
}
