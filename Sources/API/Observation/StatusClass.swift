import HTTPTypes

/// The first digit of a status. The raw value is the position in `allCases`.
enum StatusClass: Int, Sendable, CaseIterable {
    case success, redirection, clientError, serverError

    /// The value of the label `code`.
    var name: String { "\(rawValue + 2)xx" }

    init(_ status: HTTPResponse.Status) {
        switch status.code {
        case ..<300: self = .success
        case ..<400: self = .redirection
        case ..<500: self = .clientError
        default: self = .serverError
        }
    }
}
