"""Decompression of .Z files, tested on output of the program compress."""

import base64

import pytest

from cwboost.datasets.formats.compress import uncompress

# Output of compress -b 10 for the text below, long enough to fill and restart the table.
PACKED = base64.b64decode(
    """
H52KMFjEYEGDRQ6BNljIqMFiRkIaB20UxDEwBoyAMWRUpFEwho2DMXIklLFQYY2ROA7OkFHQ4UAaFwnSeImjYA0ZB2vcSGij
pI2dLG7gDFqTRc2BOWKKHCjjhkEZAmscJIlDYQ6VQmU6vVnQBowZLGwU3ekUx02DM1RWJKkwBsMZFgnC2AqD59ygcSkyzMF2
RkcaDBdWnXEDLMSAXg8WDmgWbI4bVS1WlUG4oVgWNWAMtOEwaGGDGTEnDKmSI8Ecm2EGRW3QtEWoCw/OrKpTMQ2oSZ3ecMry
YYytSYPa2HtbIMuGMBjSwFH1J1gcXjHDpmG4M+eBOGQMDkj5pd+waY3SSFhj8keC2cM+Bt2x8wydmHEwTt4wsMTTDIVWFQlW
xleZUInlmAyj3VDQbZvdEBBfFe1G0EphpdTaZKHRcEN+qsXVVE6ZGUWZQJo1BFlY8OUww2THZaaYSEYNdkNEWYnE20+iJQSd
U78ZNiJkezkFU1VCDRTeezxdaBCLKwVooUEGIsdTZY8FNAMMzQFmUFErNXdDRSrZkNCWDJ13G1S74VgZRDbCRxJY5e1Xw1tN
qQfkgRB5OBKV8R30GFQOBWSgmTlN+RRYKw20ZWT+SYfUcTNAWBhINQx0Em5GpvWchhAOB9aLmMFQkIlCcrZaQZQhNhyIDNVg
Wg5mPYgdUCt9aSRJEaUXg2pSASfdgjgYFilogwUHnZCVUQQbX54x9WZQJypEIF790ffRaMiKhSMOTolFLWImKhSigij6CZdC
S+4EW3ryCVlSTS4mlFR1e3nZKVS4OhhDSGFF59+Xv06JXYcwfQpfpPmF+V1IQNqg7kEpPXRZcQozFNKmCtaHW6OY4WtRtjmQ
Cp1RDlq46WaXNcXYlgQ52OpHfHoKWqrj3qqYvCciCp59zwV3E1RufSnhbdnqVld9C3YrEVOsdRyQVKR2mFSqp5JUFnOYqeos
VMzlpLBC7xmEZ3kjydtxmEPB9ZZ6UqYH1E6y0ehRWfLqxB1QrG7GGkxg3VuWoKqatx+2eHmH46kpBchoea15qLVakubHKmbj
WfUQkFdV/VYMmz4HoVQJOcSzoCllKyZ1benZsWc2ndRQhs+iZmiIEPUHeK8ga1nVctwVJWwO+dEXqVONbuSUSGSm59WB2pk0
EW4w2CapkTMxVaeEfAGZlcK30+wRQiiCnB/GUvl6OUit1jCgn9XGXdxtUsYUg/HuTl+ZUNniG6lhzSPH210WgeTY9tkVVFhX
kZ8UkIWdnw4XqZ15xNhon84E8nN3GQiWWJtpJBqbdwGGv5D9/rcQb5gLhDLmSLHJm2NU876foElNJJ9RiPdaVXbzFfSinzte
tpOfVl/o53JBLRdUhxcWtJOfl+1G+XzLM9asWVUxt6DLJi6IOKuTsTl83jGjrFF/8E1J6K8wvWR+p1uJ2tNmFAVFunxlfdbx
RkaNpq97tzZ0uoXkRSfRl99l9+n2mIM41V1T+pj//WHhS79RUNYp7/stB8Q+5AHK+yJuiZovUKtwybZs+Mw+NyvPl8HlME/v
e4Zb8hKyJNu9mBlpIFL5p7cQ8s25DBluPQm0ZPAZC81QSnvlfqB8YY2IbVW0a+djtwoida9xneOq+m6fnq6RbKR7yfB6mEvZ
E2Ys9komoZhbvppsk7Go6pePLwuXpOdlp2dLiPc0EbIeKTf/vVfOSNtyRgmqt1xgfYQURQoBJbdR8r5NEI1sC9eQ8cER6lZY
Q42tUNwfJzVZ1ydhJyFJUL05EdVSi7YXfQstfbrSVqWGVLfv+Tk0jUATBSl5bKXEnaicScwn1TuNVqf5SLmFXFfItmphWSib
nC+QMQA=
"""
)
TEXT = ",".join(str(i * i % 997) for i in range(700)).encode()


def test_text_comes_back():
    assert uncompress(PACKED) == TEXT


def test_empty_content_comes_back():
    assert uncompress(b"\x1f\x9d\x90") == b""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a .Z file of compress"),
        (b"\x1f\x8b\x08", "not a .Z file of compress"),
        (b"\x1f\x9d\x99", "must be 10 to 16 bits, got 25"),
        (b"\x1f\x9d\x90\xff\xff", "code 511 occurs before its string"),
    ],
)
def test_damaged_content_is_refused(content, message):
    with pytest.raises(ValueError, match=message):
        uncompress(content)
