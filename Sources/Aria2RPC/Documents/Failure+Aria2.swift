import Downloads

extension Failure {
    /// The exit status of aria2 for such a failure (aria2c(1), "EXIT STATUS").
    var aria2Code: Int {
        switch code {
        case .timedOut, .deadlineExceeded: 2
        case .badStatus: Self.aria2Code(ofStatus: status)
        case .tooSlow: 5
        case .connectionLost, .truncated: 6
        case .badRange: 8
        case .noSpace: 9
        case .destinationExists: 13
        case .destinationInvalid: 16
        case .storageError: 17
        case .nameResolutionFailed: 19
        case .linkExpired: 22
        case .tooManyRedirects: 23
        case .credentialsRequired, .proxyCredentialsRequired: 24
        case .checksumMismatch: 32
        case .badURL, .blockedAddress, .connectFailed, .tlsFailed, .sizeMismatch, .tooLarge: 1
        }
    }

    private static func aria2Code(ofStatus status: Int?) -> Int {
        switch status {
        case 404, 410: 3
        case 502, 503, 504: 29
        default: 22
        }
    }
}
