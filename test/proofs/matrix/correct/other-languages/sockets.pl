# A right receiver on bare sockets. HOOKPROOF_SECRET and HOOKPROOF_API_KEY are in the environment; prints its port.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256 sha256);
use IO::Socket::INET;
use JSON::PP;
use MIME::Base64 qw(encode_base64);

my ($secret, $api_key) = @ENV{qw(HOOKPROOF_SECRET HOOKPROOF_API_KEY)};
my %REASON = (200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 405 => 'Method Not Allowed',
    413 => 'Payload Too Large', 431 => 'Request Header Fields Too Large');
my $json = JSON::PP->new->utf8->max_depth(512);

sub same {
    my ($given, $due) = map { sha256($_) } @_;
    my $difference = 0;
    $difference |= ord(substr($given, $_, 1)) ^ ord(substr($due, $_, 1)) for 0 .. length($due) - 1;
    return $difference == 0;
}

# The head as a request line and a hash of lists; nothing when it is not well-formed.
sub read_head {
    my ($client) = @_;
    my ($first, %headers, $length);
    while (defined(my $line = <$client>)) {
        die 431 if ($length += length $line) > 16_384;
        $line =~ s/\r?\n\z//;
        if (!defined $first) { $first = $line; next }
        return ($first, \%headers) if $line eq '';
        die 400 if $line !~ /\A([!#\$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r\n]*?)[ \t]*\z/;
        push @{ $headers{ lc $1 } }, $2;
    }
    return;
}

sub read_exactly {
    my ($client, $size) = @_;
    my $bytes = '';
    while (length $bytes < $size) {
        read($client, $bytes, $size - length $bytes, length $bytes) or die "gone\n";
    }
    return $bytes;
}

sub read_body {
    my ($client, $headers) = @_;
    my @lengths = @{ $headers->{'content-length'} // [] };
    if (my $encoding = $headers->{'transfer-encoding'}) {
        die 400 if @lengths || lc "@$encoding" ne 'chunked';
        my $body = '';
        while (1) {
            my ($size) = (<$client> // '') =~ /\A([0-9a-fA-F]{1,7})[;\r\n]/ or die 400;
            my $chunk = read_exactly($client, hex $size);
            <$client>;
            return $body if $chunk eq '';
            $body .= $chunk;
        }
    }
    die 400 if @lengths > 1 || grep { !/\A\d{1,9}\z/ } @lengths;
    return read_exactly($client, $lengths[0] // 0);
}

sub status_of {
    my ($client) = @_;
    my ($first, $headers) = read_head($client) or return;
    $first =~ m{\A([A-Z]+) \S+ HTTP/1\.([01])\z} or return 400;
    my ($method, $minor) = ($1, $2);
    return 400 if $minor && @{ $headers->{host} // [] } != 1;
    print $client "HTTP/1.1 100 Continue\r\n\r\n" if lc(join '', @{ $headers->{expect} // [] }) eq '100-continue';
    my $body = read_body($client, $headers);
    return 405 if $method ne 'POST';
    # The reader of JSON that comes with Perl takes seconds for a megabyte.
    return 413 if length $body > 200_000;
    my ($given, $key) =
        map { @{ $headers->{$_} // [] } == 1 ? $headers->{$_}[0] : '' } qw(x-service-signature x-api-key);
    my $signed = same($given, encode_base64(hmac_sha256($body, $secret), ''));
    return 401 if !same($key, $api_key) || !$signed;
    my $value = eval { $json->decode($body) };
    return ref $value eq 'HASH' && defined $value->{id} ? 200 : 400;
}

sub serve {
    my ($client) = @_;
    my $status = eval { status_of($client) };
    ($status) = $@ =~ /\A(\d{3})/ if $@;
    return if !defined $status;
    print $client "HTTP/1.1 $status $REASON{$status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    shutdown $client, 1;
    # What is still under way has to be read, or the answer is lost in a reset.
    1 while sysread $client, my $rest, 65_536;
}

my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 128) or die "$@";
$| = 1;
print $server->sockport, "\n";
fork or last for 2 .. 8;
$SIG{PIPE} = 'IGNORE';
$SIG{ALRM} = sub { die "too slow\n" };
while (1) {
    my $client = $server->accept or next;
    binmode $client;
    $client->autoflush(1);
    alarm 20;
    eval { serve($client) };
    alarm 0;
    close $client;
}
