%%time
!ls \
 -l
x = !pwd
y?
%matplotlib inline
if a:
    %cd ..
"""
%no
"""
